import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'clock', version: '1.0.0' });
server.registerTool(
  'tell_time',
  { description: 'Tells the time of a town.', inputSchema: { town: z.string() } },
  async ({ town }) => ({ content: [{ type: 'text', text: `It is noon in ${town}.` }] }),
);
await server.connect(new StdioServerTransport());
