/** Requests to the tracing service of the graph library are no part of a run. */
const TRACING_VARIABLES = ['LANGSMITH_ENDPOINT', 'LANGCHAIN_ENDPOINT', 'LANGCHAIN_BASE_URL'];

export function isTracing(url: string): boolean {
  const { hostname, origin } = new URL(url);
  return (
    /(^|\.)smith\.langchain\.com$/.test(hostname) ||
    TRACING_VARIABLES.some((name) => {
      const value = process.env[name];
      return value !== undefined && URL.canParse(value) && new URL(value).origin === origin;
    })
  );
}
