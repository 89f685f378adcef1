/** Columns of every row that has content: the text, or its sealed bytes (../coder.ts), and the checksum of either. */
export const CONTENT = 'data ANY NOT NULL, crc INTEGER NOT NULL';
