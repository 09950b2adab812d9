/** An entry of the audit trail, as it is sent to EVENTS_URL: without the values that were changed, which may be texts of people. */
export type SecurityEvent = {
  id: string;
  at: string;
  action: string;
  resource: string;
  resourceId: string | null;
  actorId: string | null;
  actor: string | null;
  ip: string;
};
