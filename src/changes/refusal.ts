/** Every named "no" of the bot. The Slack room has one sentence for each. */
export const REFUSALS = [
  // The life of a change.
  'not-found',
  'not-draft',
  'not-pending',
  'not-approved',
  'not-executing',
  'not-unknown',
  'expired',
  'not-requester',
  'self-approval',
  'already-approved',
  'already-decided',
  'note-required',
  'too-early',
  'lost-race',
  'target-moved',
  'approvals-missing',
  // Who someone is.
  'lookup-failed',
  'deactivated',
  'guest',
  'bot',
  'other-workspace',
  // What the policy says.
  'no-rule',
  'not-a-requester',
  'not-an-approver',
  'frozen',
  'reason-required',
] as const;
export type Refusal = (typeof REFUSALS)[number];
