/** Whether the address that a program wants a token for (RFC 8707) is that of this installation or of its /mcp. */
export const isOwnResource = (resource: string, origin: string): boolean =>
  [origin, `${origin}/mcp`].includes(resource.replace(/\/$/, ""));
