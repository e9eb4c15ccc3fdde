import { expect, test } from 'vitest';
import type { Verb } from '../../src/domain/change.ts';
import { REFUSALS, STATES } from '../../src/domain/change.ts';
import { createDenial, type Denial } from '../../src/domain/gate.ts';
import { sentenceMessage } from '../../src/slack/answer.ts';
import { refusalLine } from '../../src/slack/refusals.ts';
import { actor, ana, ben, changeIn, cleo, minutes, NOON } from '../domain/changes-fixtures.ts';
import { drawing, expectSound, NASTY, NASTY_SEEN, shownIn } from './fixtures.ts';

const pending = changeIn('pending', { approvals: [{ by: ben.id, at: NOON }] });
const FROM = { from: minutes(-60), until: minutes(60 * 24), on: null };
const freeze = { ...FROM, reason: 'year end', by: 'Gus' };
const who = { users: [ana.id, cleo.id], more: false };
const known = { change: pending, rule: 2, role: 'operator', who, freeze };

function sentence(
  refusal: (typeof REFUSALS)[number],
  about: Parameters<typeof createDenial>[1],
): string {
  return sentenceMessage(refusalLine(createDenial(refusal, about), drawing)).text;
}

test.for<[string, Denial['who']]>([
  ['Slack did not answer in time', null],
  ['no member is in the cache', { users: [], more: true }],
])('a user who may not approve reads the group when %s', ([, who]) => {
  const own = { ...known, role: 'approver', who };
  expect(sentence('not-an-approver', own)).toBe(
    'Only @db-leads can decide this. Ask a member of @db-leads.',
  );
  expect(sentence('self-approval', own)).toBe(
    'You requested this change, so someone else must approve it: @db-leads.',
  );
});

test('a lookup that Slack refused is not called unanswered', () => {
  const refused = { ...drawing, lookupRefusal: () => 'missing_scope' };
  expect(refusalLine(createDenial('lookup-failed', known), refused)).toEqual([
    'Slack refused the membership lookup (missing_scope), so nothing was done. Try again in a minute. ' +
      'If it fails again, an operator of Signalbox can run the doctor.',
  ]);
});

test('every refusal says what happened and what to do', () => {
  const approvals = ['self-approval', 'not-an-approver'];
  const said = REFUSALS.map((refusal) => {
    const role = approvals.includes(refusal) ? 'approver' : 'operator';
    return [refusal, sentence(refusal, { ...known, role })];
  });
  expect(Object.fromEntries(said)).toMatchInlineSnapshot(`
    {
      "agent-limit": "This agent has as many requests as it may have. Wait for one, or cancel one.",
      "agent-not-admitted": "No rule of the policy admits this agent here. A person can request it, and the owners of signalbox.yaml can change the rule.",
      "already-approved": "Already approved by you. 1 more approval from @db-leads is needed.",
      "already-decided": "Too late: it is waiting for approval. An approver can decide on its card.",
      "already-received": "This press was already received. It counts once.",
      "already-reviewed": "This was already reviewed.",
      "approvals-missing": "The current policy requires more approvals than this change has (@db-operators). Nothing was sent. Request it again.",
      "bot": "Apps and bots cannot use Signalbox. A user must request it.",
      "card-deleted": "The card of this change was deleted, so nobody can see what was agreed to. Nothing was sent. Request it again.",
      "deactivated": "This account is deactivated. An administrator of the workspace can activate it.",
      "expired": "Too late: it has expired. Nothing was changed. Request it again.",
      "foreign-place": "This button is not where Signalbox put it, so the press does not count. The operators were notified. Press the button on the card of the change, or request it again.",
      "frozen": "analytics-prod is frozen until <!date^1795262400^{date_short_pretty} at {time}|2026-11-21T12:00:00.000Z> (year end, by Gus). It is set in signalbox.yaml.",
      "guest": "Guests cannot use Signalbox. Ask a full member of the workspace to request it.",
      "key-used": "This request key was used for another request in the last 7 days. Use another key.",
      "lookup-failed": "Slack did not answer the membership lookup, so nothing was done. Try again in a minute.",
      "may-not-break-glass": "Only @db-operators may use break-glass here: <@U0ANA> or <@U0CLEO>.",
      "never": "The policy never allows /service stop on analytics-prod. Break-glass does not override this. The owners of signalbox.yaml can change it.",
      "no-break-glass": "The policy does not allow break-glass here. The change needs its approvals.",
      "no-rule": "signalbox.yaml has no tags or no warehouse for analytics-prod, so its rules do not apply. The owners of signalbox.yaml can add them.",
      "not-a-requester": "You can't stop analytics-prod: only @db-operators may. <@U0ANA> or <@U0CLEO> can request it for you.",
      "not-an-approver": "Only @db-leads can decide this. Ask <@U0ANA> or <@U0CLEO>.",
      "not-approved": "This is not approved: it is waiting for approval. An approver can decide on its card.",
      "not-covered": "The standing approval does not cover this: its command, target, values or time differ. Nothing was sent. Request it again for approval.",
      "not-draft": "This was already requested: it is waiting for approval. An approver can decide on its card.",
      "not-ended": "This has not ended yet. Review it when it has ended.",
      "not-executing": "This is not running: it is waiting for approval. An approver can decide on its card.",
      "not-found": "This change no longer exists. Request it again.",
      "not-in-time": "Signalbox could not handle this press within 15 minutes, so nothing was done. Press again.",
      "not-listed": "“analytics-prod” is not in signalbox.yaml, and the policy does not allow this for discovered services.",
      "not-narrower": "Nothing is less than requested. Press Approve on the card, or lower a value.",
      "not-pending": "The requester has not requested approval yet. Decide on the card once it is posted.",
      "not-requester": "Only the requester, <@U0ANA>, can do this. Ask them to do it.",
      "not-unknown": "The outcome is already known: it is waiting for approval. An approver can decide on its card.",
      "not-verified": "Signalbox could not verify “analytics-prod”: the server did not return its current tags and warehouse. Nothing was sent. The service is not in signalbox.yaml, so the policy needs them. Try again in a minute. If it fails again, an operator of Signalbox can run the doctor.",
      "note-required": "Describe what you found: the next person relies on it.",
      "older-state": "This message shows an older state. Press the button on the newest reply in its thread.",
      "other-workspace": "Only members of this workspace can use Signalbox. Ask one of them to request it.",
      "rate-limited": "You sent too many requests in a short time, so this one was ignored. Try again in a minute.",
      "reason-required": "The policy requires a reason. Add it at the end of the command, for example “nightly maintenance”.",
      "restored": "The database lost events that people saw, for example after a restore, so it is unknown what was sent. Check the current state of the target, then request it again.",
      "schedule-ended": "Its schedule was paused, removed or replaced, or has expired. Nothing was sent.",
      "self-approval": "You requested this change, so someone else must approve it: <@U0ANA> or <@U0CLEO>.",
      "standing-ended": "The standing approval has ended: it expired, was revoked or lost its card. Nothing was sent. Request it again.",
      "standing-used": "The standing approval has no use left. Nothing was sent. Request it again for approval.",
      "tags-changed": "The tags or the warehouse of analytics-prod changed or are unknown now, so other rules apply. Nothing was sent. Request it again.",
      "target-changed": "analytics-prod changed after the preview. Nothing was sent. Request it again with the current values.",
      "too-early": "This is still running. Try again in a minute.",
      "too-late": "The scheduled time has passed. Request it again with a later time.",
      "unlisted-workspace": "Signalbox does not serve this workspace of the organization. Its operators can list it in signalbox.yaml.",
      "wider": "These values are not within the request as it is now, so nothing was approved. Its card shows what is requested: choose “Approve with less…” again.",
    }
  `);
});

test('who is limited reads when the next request is possible', () => {
  const text = sentence('rate-limited', { ...known, until: minutes(10) });
  expect(text).toMatch(/ You can request again at <!date\^1795176600\^.*\.$/);
});

test('of many who could ask, the rest is counted, be it a single one', () => {
  const asked = (count: number) => {
    const users = Array.from({ length: count }, (_, at) => actor(`U0MANY${at}`).id);
    return sentence('not-a-requester', { ...known, who: { users, more: false } });
  };
  expect(asked(4)).toContain('<@U0MANY2> or 1 more can request it for you.');
  expect(asked(5)).toContain('<@U0MANY2> or 2 more can request it for you.');
});

test('who comes too late reads what became of it, and by whom', () => {
  const states = STATES.filter((state) => !['draft', 'pending'].includes(state));
  const said = states.map((state) => {
    const approvals = [{ by: ben.id, at: NOON }];
    return sentence('already-decided', { change: changeIn(state, { approvals }) });
  });
  expect(said).toMatchInlineSnapshot(`
    [
      "Already approved by <@U0BEN>, <!date^1795176000^{date_short_pretty} at {time}|2026-11-20T12:00:00.000Z>. Updates appear in the thread of its card.",
      "Too late: it is running. Updates appear in the thread of its card.",
      "Too late: it was accepted. Its card shows the response.",
      "Too late: it failed. Request it again if it is still needed.",
      "Too late: its outcome is unknown. Record the outcome on its card.",
      "Already rejected by <@U0BEN>, <!date^1795175940^{date_short_pretty} at {time}|2026-11-20T11:59:00.000Z>. Request it again if it is still needed.",
      "Already cancelled by <@U0ANA>. Request it again if it is still needed.",
      "Too late: it has expired. Request it again if it is still needed.",
      "Too late. analytics-prod changed after the preview. Nothing was sent. Request it again with the current values.",
      "Too late. analytics-prod is frozen. /change freezes shows until when.",
    ]
  `);
});

test('a "no" about which little is known is still a sentence', () => {
  const little = REFUSALS.map((refusal) => sentence(refusal, {}));
  expect(little.filter((text) => !/^[A-Z/].*\.$/s.test(text.trim()))).toEqual([]);
  expect(little.filter((text) => /null|undefined|NaN|\[object/.test(text))).toEqual([]);
});

test.for(REFUSALS.map((refusal) => [refusal] as const))(
  '%s names nasty names literally',
  ([refusal]) => {
    const change = { ...pending, command: NASTY };
    const about = { ...known, change, target: NASTY, command: NASTY, role: NASTY };
    const line = refusalLine(
      createDenial(refusal, { ...about, freeze: { ...freeze, reason: NASTY, by: NASTY } }),
      drawing,
    );
    const drawn = sentenceMessage(line);
    expectSound(drawn);
    if (drawn.text.includes('evil')) expect(shownIn(drawn)).toContain(NASTY_SEEN);
  },
);

test('of many who could approve three are named, and the rest with their group', () => {
  const users = Array.from({ length: 5 }, (_, at) => actor(`U0MANY${at}`).id);
  const own = { ...known, role: 'approver' };
  const asked = (more: boolean, about: Partial<Denial> = own) =>
    sentence('self-approval', { ...about, who: { users, more } });
  const named = 'someone else must approve it: <@U0MANY0>, <@U0MANY1>, <@U0MANY2> or ';
  expect(asked(false)).toContain(`${named}2 more from @db-leads.`);
  expect(asked(true)).toContain(`${named}others from @db-leads.`);
  const requires = { ...pending.requires, escalation: { to: 'operator', afterMs: 1 } };
  const escalated = { ...own, change: { ...pending, requires } };
  expect(asked(false, escalated)).toContain(`${named}2 more.`);
});

test.for<[Verb, string]>([
  ['approve', 'Too late to approve: it was accepted. Its card shows the response.'],
  ['cancel', 'Too late to cancel: it was accepted. Its card shows the response.'],
  ['break-glass', 'Too late to use break-glass: it was accepted. Its card shows the response.'],
])('a late press of %s reads what is too late', ([verb, text]) => {
  const about = { change: changeIn('succeeded'), press: { verb, by: ben.id } };
  expect(sentence('already-decided', about)).toBe(text);
  expect(sentence('expired', about)).toContain(`${text.split(':')[0]}: it has expired.`);
});

test('a second press of Approve reads when the first was, and what is still needed', () => {
  const about = { change: pending, press: { verb: 'approve' as const, by: ben.id } };
  expect(sentence('already-approved', about)).toMatchInlineSnapshot(
    `"Already approved by you, <!date^1795176000^{date_short_pretty} at {time}|2026-11-20T12:00:00.000Z>. 1 more approval from @db-leads is needed."`,
  );
});

test.for([
  ['nobody was looked up', null],
  ['only some were looked up', { users: [], more: true }],
] as const)('where %s, the refusal names the group', ([, who]) => {
  const text = sentence('not-a-requester', { ...known, who });
  expect(text).toContain('only @db-operators may. Ask a member of @db-operators.');
});
