import { expect, test } from 'vitest';
import { STATES } from '../../../src/changes/change.ts';
import { REFUSALS } from '../../../src/changes/refusal.ts';
import { sentenceMessage } from '../../../src/slack/blocks/answer-blocks.ts';
import { refusalLine } from '../../../src/slack/cards/refusals.ts';
import { denialOf } from '../../../src/workflow/denial.ts';
import { actor, ana, ben, changeIn, cleo, minutes, NOON } from '../../changes/fixtures.ts';
import { drawing, expectSound, NASTY, NASTY_SEEN, shownIn } from '../fixtures.ts';

const pending = changeIn('pending', { approvals: [{ by: ben.id, at: NOON }] });
const freeze = {
  from: minutes(-60),
  until: minutes(60 * 24),
  on: null,
  reason: 'year end',
  by: 'Gus',
};
const known = { change: pending, rule: 2, role: 'operator', who: [ana.id, cleo.id], freeze };

function sentence(
  refusal: (typeof REFUSALS)[number],
  about: Parameters<typeof denialOf>[1],
): string {
  return sentenceMessage(refusalLine(denialOf(refusal, about), drawing.policy)).text;
}

test('every "no" is said in words that tell what happened, and what to do', () => {
  const approvals = ['self-approval', 'not-an-approver'];
  const said = REFUSALS.map((refusal) => {
    const role = approvals.includes(refusal) ? 'approver' : 'operator';
    return [refusal, sentence(refusal, { ...known, role })];
  });
  expect(Object.fromEntries(said)).toMatchInlineSnapshot(`
    {
      "already-approved": "You have approved this already. It waits for others.",
      "already-decided": "This is decided. It is waiting for approval.",
      "already-reviewed": "Somebody has looked at this already and written down what they found.",
      "approvals-missing": "The approvals that it has are not enough for the policy of today (rule 2, @db-operators). Nothing was sent.",
      "bot": "Apps and bots cannot use Signalbox.",
      "deactivated": "This account is deactivated.",
      "expired": "The time to decide is over and nothing was changed. Ask for it again.",
      "frozen": "analytics-prod is frozen until <!date^1795262400^{date_short_pretty} at {time}|2026-11-21T12:00:00.000Z> (year end, by Gus). It stands in signalbox.yaml.",
      "guest": "Guests cannot use Signalbox.",
      "lookup-failed": "Slack did not tell who is who just now, so nothing was done. Try again in a minute.",
      "lost-race": "This very click has arrived before; it counts once.",
      "may-not-break-glass": "Rule 2 lets only @db-operators do this alone. <@U0ANA> or <@U0CLEO> can.",
      "never": "Nobody may use /service stop on analytics-prod. signalbox.yaml rules it out for everyone, emergencies included.",
      "no-break-glass": "Rule 2 does not let its requester do this alone; it needs its approvals.",
      "no-rule": "signalbox.yaml does not say enough of analytics-prod to tell whether rule 2 is about it, and no rule behind that one counts. Whoever looks after that file can mend it.",
      "not-a-requester": "You may not use /service stop on analytics-prod. Rule 2 lets @db-operators ask. <@U0ANA> or <@U0CLEO> can ask for you.",
      "not-an-approver": "Only @db-leads can decide this (rule 2). <@U0ANA> or <@U0CLEO> can.",
      "not-approved": "This is not approved. It is waiting for approval.",
      "not-draft": "This was sent off already. It is waiting for approval.",
      "not-executing": "This is not running. It is waiting for approval.",
      "not-found": "This change is not in my records any more. Ask for it again.",
      "not-over": "This is not over yet. Look at it when it has ended.",
      "not-pending": "Its requester has not asked for approval yet.",
      "not-requester": "Only <@U0ANA> can do that.",
      "not-told": "This is not what the audit trail tells of this change: somebody wrote into the database. Nothing was sent. Tell whoever looks after Signalbox.",
      "not-unknown": "It is known by now what happened. It is waiting for approval.",
      "note-required": "Please say what you saw: the next person relies on it.",
      "other-workspace": "Only members of this workspace can use Signalbox.",
      "reason-required": "Rule 2 asks for a reason: write it at the end of the command, for example “nightly maintenance”.",
      "restored": "The database was restored from an older copy, so nobody can say what was sent since. Look at what the target is now, then ask again.",
      "self-approval": "You asked for this change yourself; <@U0ANA> or <@U0CLEO> must approve it (rule 2, @db-leads).",
      "target-moved": "analytics-prod was changed since this was shown. Nothing was sent; ask again to see it anew.",
      "too-early": "This is still under way. Try again in a minute.",
      "too-late": "The hour that it was to begin at is over. Ask again with a later one.",
      "too-many": "That was a lot in a short time, so this one was not taken. Try again in a few minutes.",
    }
  `);
});

test('of many who could ask, the rest is counted, be it a single one', () => {
  const asked = (count: number) => {
    const who = Array.from({ length: count }, (_, at) => actor(`U0MANY${at}`).id);
    return sentence('not-a-requester', { ...known, who });
  };
  expect(asked(6)).toContain('<@U0MANY4> or 1 other can ask for you.');
  expect(asked(7)).toContain('<@U0MANY4> or 2 others can ask for you.');
});

test('who comes too late reads what became of it, and by whom', () => {
  const states = STATES.filter((state) => !['draft', 'pending'].includes(state));
  const said = states.map((state) => {
    const approvals = [{ by: ben.id, at: NOON }];
    return sentence('already-decided', { change: changeIn(state, { approvals }) });
  });
  expect(said).toMatchInlineSnapshot(`
    [
      "This is decided. It is approved by <@U0BEN>, <!date^1795176000^{date_short_pretty} at {time}|2026-11-20T12:00:00.000Z>.",
      "This is decided. It is running.",
      "This is decided. It is done.",
      "This is decided. It is not done.",
      "This is decided. It is in doubt.",
      "This is decided. It is rejected by <@U0BEN>, <!date^1795175940^{date_short_pretty} at {time}|2026-11-20T11:59:00.000Z>.",
      "This is decided. It is cancelled by <@U0ANA>.",
      "This is decided. It is expired.",
      "This is decided. It is out of date.",
      "This is decided. It is denied.",
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
      denialOf(refusal, { ...about, freeze: { ...freeze, reason: NASTY, by: NASTY } }),
      drawing.policy,
    );
    const drawn = sentenceMessage(line);
    expectSound(drawn);
    if (drawn.text.includes('evil')) expect(shownIn(drawn)).toContain(NASTY_SEEN);
  },
);

test('of many who could help five are named', () => {
  const who = Array.from({ length: 8 }, () => ben.id);
  expect(sentence('self-approval', { ...known, who })).toContain('<@U0BEN> or 3 others');
});
