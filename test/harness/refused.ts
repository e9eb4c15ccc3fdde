/**
 * The words by which scenarios recognise a refusal, so that a reworded sentence changes this file, its own
 * test, `test/slack/refusals.test.ts`, and no scenario.
 */
export const REFUSED = {
  notAnApprover: 'can decide this',
  notAnApproverOf: (group: string) => `Only ${group} can decide this`,
  notRequester: (requester: string) => `Only the requester, <@${requester}>, can do this`,
  alreadyApproved: 'Already approved by you',
  lookupFailed: 'Slack did not answer the membership lookup',
  guest: 'Guests cannot use Signalbox',
  otherWorkspace: 'Only members of this workspace can use Signalbox',
};
