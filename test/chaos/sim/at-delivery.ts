import type { UserId, Verb } from '../../../src/domain/change.ts';
import { BREAK_GLASS_KIND, NEEDS } from './people.ts';
import type { Delivery } from './server.ts';
import type { RequestRecord, Simulation } from './simulation-types.ts';
import type { Card } from './slack.ts';

/** The maximum age of a membership lookup when a request is sent. */
const FRESH_MS = 30_000;

/** The promises that a request violates when it arrives, from what the driver knows. */
export function wrongWith(simulation: Simulation, delivery: Delivery): readonly string[] {
  const asked = simulation.asked.find(({ mark }) => mark === delivery.mark);
  if (!asked?.id) return [`${delivery.mark}: no request with a preview exists for it`];
  const rules = [
    sentTwice,
    otherTarget,
    tooEarly,
    notConfirmed,
    tooFew,
    notFresh,
    forbidden,
    decided,
    shownEnded,
    moved,
    overused,
    revoked,
  ];
  return rules.flatMap((rule) => {
    const found = rule(simulation, asked, delivery);
    return found ? [`${delivery.mark} (${asked.kind}): ${found}`] : [];
  });
}

const CONFIRMS = ['confirm', 'break-glass'];

type Rule = (simulation: Simulation, asked: RequestRecord, delivery: Delivery) => string | null;

function earlier({ server }: Simulation, delivery: Delivery): readonly Delivery[] {
  const all = server.deliveries();
  return all.slice(0, all.indexOf(delivery));
}

/**
 * P1: a change is sent once, as long as Slack shows that it was sent. A request that was definitely not executed does
 * not count.
 */
const sentTwice: Rule = (simulation, { mark }, delivery) => {
  const before = earlier(simulation, delivery).filter(
    (each) => each.mark === mark && each.executed === 'perhaps',
  );
  return before.some((each) => isWitnessed(simulation, each)) ? 'sent twice' : null;
};

const SENT: readonly (Card['states'][number] | undefined)[] = [
  'executing',
  'succeeded',
  'failed',
  'unknown',
];

/** Whether its note, its card or its line in the audit channel still stands. */
function isWitnessed({ slack, witnesses }: Simulation, delivery: Delivery): boolean {
  const { note, lines = 0 } = witnesses.get(delivery) ?? {};
  if (!note) return true;
  const { card } = note;
  const isShown = !note.isDeleted || SENT.includes(card.states.at(-1));
  const isAudited = slack.audit.slice(lines).some(({ change }) => change === card.change);
  return isAudited || (isShown && !card.isDeleted);
}

const otherTarget: Rule = (_simulation, { target }, delivery) =>
  target === delivery.target ? null : 'sent to another target than was asked for';

const tooEarly: Rule = ({ skewMs }, { notBefore }, { at }) =>
  at.getTime() < notBefore.getTime() - skewMs ? 'sent before its scheduled time' : null;

const notConfirmed: Rule = ({ pressed }, { id, by }) =>
  pressed.some((each) => each.id === id && CONFIRMS.includes(each.verb) && each.by === by)
    ? null
    : "sent without its requester's confirmation";

/** The necessary approvals: none after a permitted break-glass. */
function needed({ pressed, slack }: Simulation, { id, by, kind }: RequestRecord): number {
  const broke = pressed.some(
    (each) => each.id === id && each.verb === 'break-glass' && each.by === by,
  );
  const may = kind === BREAK_GLASS_KIND && slack.rolesOf(by).includes('approver');
  return broke && may ? 0 : NEEDS[kind];
}

/** The users who pressed Approve or Approve with less, may approve now, and are not the requester. */
function approversOf(
  { pressed, slack }: Simulation,
  { id, by, standing }: RequestRecord,
): readonly UserId[] {
  const approving: readonly Verb[] = ['approve', 'narrow'];
  const isOf = (each: { readonly id: string }) => each.id === id || each.id === standing;
  const people = pressed.filter((each) => isOf(each) && approving.includes(each.verb));
  const distinct = [...new Set(people.map((each) => each.by))];
  return distinct.filter((user) => user !== by && slack.rolesOf(user).includes('approver'));
}

/** P2: enough approvals. */
const tooFew: Rule = (simulation, asked) => {
  const approvers = approversOf(simulation, asked);
  if (!simulation.slack.rolesOf(asked.by).includes('operator'))
    return 'its requester may not ask now';
  return approvers.length < needed(simulation, asked) ? 'sent without enough approvals' : null;
};

/** P2 and P11: the memberships were read right before sending. */
const notFresh: Rule = (simulation, asked, delivery) => {
  const { slack } = simulation;
  const isFresh = (user: UserId) => {
    const readAt = slack.readAt.get(user);
    return readAt !== undefined && delivery.at.getTime() - readAt.getTime() < FRESH_MS;
  };
  if (!isFresh(asked.by)) return 'sent without asking who the requester is';
  const fresh = approversOf(simulation, asked).filter(isFresh);
  return fresh.length < needed(simulation, asked)
    ? 'sent without asking who the approvers are'
    : null;
};

const forbidden: Rule = ({ clock }) => (clock.frozen ? 'sent although it is frozen' : null);

/** P13: a confirmed cancellation or rejection holds. */
const decided: Rule = (simulation, asked) => {
  const against = simulation.slack.told.findLastIndex(
    ({ change, verb, ok }) => ok && change === asked.id && ['reject', 'cancel'].includes(verb),
  );
  return against < 0 || isDecidedAgain(simulation, asked, against)
    ? null
    : 'sent after its cancellation was confirmed';
};

/** The log has lost its end, no card shows it, and people confirmed and approved it anew. */
function isDecidedAgain(
  { lost, pressed, slack }: Simulation,
  { id, kind, by }: RequestRecord,
  told: number,
): boolean {
  const cards = slack.cards.filter(({ change, isDeleted }) => change === id && !isDeleted);
  if (!id || !lost.has(id) || cards.some(({ states }) => states.some(isEnd))) return false;
  const anew = pressed.filter((each) => each.id === id && each.told > told);
  const approvers = anew.filter((each) => each.verb === 'approve' && each.by !== by);
  if (new Set(approvers.map((each) => each.by)).size >= Math.max(1, NEEDS[kind])) return true;
  return anew.some((each) => CONFIRMS.includes(each.verb) && each.by === by);
}

const ENDS: Card['states'] = ['rejected', 'cancelled', 'expired', 'stale', 'denied', 'lost'];
const isEnd = (state: Card['states'][number]) => ENDS.includes(state);

/** What people saw ended holds. */
const shownEnded: Rule = ({ slack }, { id }) => {
  const cards = slack.cards.filter(({ change, isDeleted }) => change === id && !isDeleted);
  return cards.some(({ states }) => states.some(isEnd))
    ? 'sent after its card showed its end'
    : null;
};

/** The target did not change after the preview, and no other outcome of it is unknown. */
const moved: Rule = (simulation, asked, delivery) => {
  const { server } = simulation;
  if (asked.kind !== 'service create' && server.editsOf(asked.target) !== asked.after.edits) {
    return 'sent over an edit that nobody had seen';
  }
  // What the log has lost of another change, a person has to look at.
  const others = earlier(simulation, delivery).filter(
    (each) =>
      each.target === asked.target && each.mark !== asked.mark && !isLost(simulation, each.mark),
  );
  const since = server.deliveries().indexOf(delivery);
  const known = others
    .slice(0, since)
    .filter(
      (each) => each.fault === null && server.deliveries().indexOf(each) >= asked.after.deliveries,
    );
  if (known.length > 0) return 'sent although another change ran since it was planned';
  const unresolved = others.filter(
    (each) => !each.definite && each.executed === 'perhaps' && asked.kind !== 'alert edit',
  );
  const unknowns = unresolved.map(({ mark }) =>
    simulation.asked.find((each) => each.mark === mark),
  );
  return unknowns.every((unknown) => isSettled(simulation, unknown))
    ? null
    : 'sent while another outcome is unknown';
};

function isLost({ asked, lost }: Simulation, mark: string): boolean {
  return lost.has(asked.find((each) => each.mark === mark)?.id ?? '');
}

/** A standing approval is used as often as people agreed, as long as its thread stands. */
const overused: Rule = ({ allowed, asked, server, slack }, { standing }) => {
  const own = allowed.find(({ id }) => id === standing);
  const cards = slack.cards.filter(({ change }) => change === standing);
  const isWhole =
    cards.every(({ isDeleted }) => !isDeleted) &&
    slack.notes.every(({ card, isDeleted }) => card.change !== standing || !isDeleted);
  if (!own || !isWhole) return null;
  const uses = asked.filter((each) => each.standing === standing).map(({ mark }) => mark);
  const sent = new Set(
    server.deliveries().flatMap(({ mark }) => (uses.includes(mark) ? mark : [])),
  );
  return sent.size > own.uses ? 'sent although its standing approval had no use left' : null;
};

/** A confirmed revocation holds. */
const revoked: Rule = ({ slack }, { standing }) =>
  slack.told.some(({ change, verb, ok }) => ok && change === standing && verb === 'revoke')
    ? 'sent after its standing approval was revoked'
    : null;

const SETTLES = ['happened', 'did-not-happen'];

/** Whether a user resolved the unknown outcome. A crash may have lost the answer to the press. */
function isSettled({ pressed, slack }: Simulation, unknown: RequestRecord | undefined): boolean {
  const maySay = (user: UserId) => user !== unknown?.by && slack.everIn('approver', user);
  const presses = pressed.filter(
    ({ id, verb, by }) => id === unknown?.id && SETTLES.includes(verb) && maySay(by),
  );
  const answers = slack.told.filter(
    ({ change, verb, to }) => change === unknown?.id && SETTLES.includes(verb) && maySay(to),
  );
  return answers.some(({ ok }) => ok) || answers.length < presses.length;
}
