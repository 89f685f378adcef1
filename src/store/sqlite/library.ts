import Library from 'better-sqlite3';

export const Database = Library;
export type Database = Library.Database;
export type Statement = Library.Statement;
