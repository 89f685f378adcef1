/** `X-Pagination-Total`: all matches, of threads exact up to 10,000. `X-Pagination-Next`: the next offset, absent on the last page. */
export function paginationHeaders(offset: number, found: number, total: number): Record<string, string> {
  const next = offset + found;
  return {
    'x-pagination-total': String(total),
    ...(found > 0 && next < total && { 'x-pagination-next': String(next) }),
  };
}
