/** Whether an address that a program wants a token for (RFC 8707) is this house's, or that of its /mcp. */
export const isOwnResource = (resource: string, origin: string): boolean =>
  resource.replace(/\/$/, "") === origin || resource === `${origin}/mcp`;
