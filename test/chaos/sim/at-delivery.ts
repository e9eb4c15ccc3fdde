import type { UserId } from '../../../src/changes/change.ts';
import { GLASS, NEEDS } from './people.ts';
import type { Delivery } from './server.ts';
import type { Asked, Theatre } from './theatre-types.ts';

/** How old may be at most what somebody saw who sends. */
const FRESH_MS = 30_000;

/** What is wrong with a request at the moment at which it arrives, from what the driver knows. */
export function wrongWith(theatre: Theatre, delivery: Delivery): readonly string[] {
  const asked = theatre.asked.find(({ mark }) => mark === delivery.mark);
  if (!asked?.id) return [`${delivery.mark}: nobody who got a preview asked for it`];
  const rules = [
    sentTwice,
    otherTarget,
    tooEarly,
    notConfirmed,
    tooFew,
    notFresh,
    forbidden,
    decided,
    moved,
  ];
  return rules.flatMap((rule) => {
    const found = rule(theatre, asked, delivery);
    return found ? [`${delivery.mark} (${asked.kind}): ${found}`] : [];
  });
}

const CONFIRMS = ['confirm', 'break-glass'];

type Rule = (theatre: Theatre, asked: Asked, delivery: Delivery) => string | null;

function earlier({ server }: Theatre, delivery: Delivery): readonly Delivery[] {
  const all = server.deliveries();
  return all.slice(0, all.indexOf(delivery));
}

/** P1. A request of which the server said that nothing was executed does not count. */
const sentTwice: Rule = (theatre, { mark }, delivery) => {
  const before = earlier(theatre, delivery).filter((each) => each.mark === mark);
  return before.some(({ executed }) => executed === 'perhaps') ? 'sent twice' : null;
};

const otherTarget: Rule = (_theatre, { target }, delivery) =>
  target === delivery.target ? null : 'sent to another target than was asked for';

const tooEarly: Rule = (_theatre, { notBefore }, { at }) =>
  at < notBefore ? 'sent before its hour' : null;

const notConfirmed: Rule = ({ pressed }, { id, by }) =>
  pressed.some((each) => each.id === id && CONFIRMS.includes(each.verb) && each.by === by)
    ? null
    : 'sent without its requester’s confirmation';

/** Alone, where the rule lets its requester: nobody else has to agree. */
function needed({ pressed, slack }: Theatre, { id, by, kind }: Asked): number {
  const broke = pressed.some(
    (each) => each.id === id && each.verb === 'break-glass' && each.by === by,
  );
  const may = kind === GLASS && slack.rolesOf(by).includes('approver');
  return broke && may ? 0 : NEEDS[kind];
}

/** Who pressed approve, may do so now, and did not ask for it. */
function approversOf({ pressed, slack }: Theatre, { id, by }: Asked): readonly UserId[] {
  const people = pressed.filter((each) => each.id === id && each.verb === 'approve');
  const distinct = [...new Set(people.map((each) => each.by))];
  return distinct.filter((user) => user !== by && slack.rolesOf(user).includes('approver'));
}

/** P2. */
const tooFew: Rule = (theatre, asked) => {
  const approvers = approversOf(theatre, asked);
  if (!theatre.slack.rolesOf(asked.by).includes('operator')) return 'its requester may not ask now';
  return approvers.length < needed(theatre, asked) ? 'sent without enough approvals' : null;
};

/** P2 and P11: somebody asked Slack just now, and got an answer. */
const notFresh: Rule = (theatre, asked, delivery) => {
  const { slack } = theatre;
  const isFresh = (user: UserId) => {
    const readAt = slack.readAt.get(user);
    return readAt !== undefined && delivery.at.getTime() - readAt.getTime() < FRESH_MS;
  };
  if (!isFresh(asked.by)) return 'sent without asking who the requester is';
  const fresh = approversOf(theatre, asked).filter(isFresh);
  return fresh.length < needed(theatre, asked) ? 'sent without asking who the approvers are' : null;
};

const forbidden: Rule = ({ clock }) => (clock.frozen ? 'sent although it is frozen' : null);

/** P13. */
const decided: Rule = ({ slack }, { id }) => {
  const against = slack.told.some(
    ({ change, verb, ok }) => ok && change === id && ['reject', 'cancel'].includes(verb),
  );
  return against ? 'sent after somebody was told that it will not be' : null;
};

/** What was approved is not what would be overwritten now; and nothing runs beside a doubt. */
const moved: Rule = (theatre, asked, delivery) => {
  const { server } = theatre;
  if (asked.kind === 'alert edit' && server.editsOf(asked.target) !== asked.after.edits) {
    return 'sent over an edit that nobody had seen';
  }
  const others = earlier(theatre, delivery).filter(
    (each) => each.target === asked.target && each.mark !== asked.mark,
  );
  const since = server.deliveries().indexOf(delivery);
  const known = others
    .slice(0, since)
    .filter(
      (each) => each.fault === null && server.deliveries().indexOf(each) >= asked.after.deliveries,
    );
  if (known.length > 0) return 'sent although another change ran since it was planned';
  const doubtful = others.filter(
    (each) => !each.definite && each.executed === 'perhaps' && asked.kind !== 'alert edit',
  );
  const doubts = doubtful.map(({ mark }) => theatre.asked.find((each) => each.mark === mark));
  return doubts.every((doubt) => isSettled(theatre, doubt))
    ? null
    : 'sent while nobody knows what became of another request';
};

const SETTLES = ['happened', 'did-not-happen'];

/** Somebody has said what became of it. Whoever lost the answer with a process may have, too. */
function isSettled({ pressed, slack }: Theatre, doubt: Asked | undefined): boolean {
  const maySay = (user: UserId) => user !== doubt?.by && slack.everIn('approver', user);
  const presses = pressed.filter(
    ({ id, verb, by }) => id === doubt?.id && SETTLES.includes(verb) && maySay(by),
  );
  const answers = slack.told.filter(
    ({ change, verb, to }) => change === doubt?.id && SETTLES.includes(verb) && maySay(to),
  );
  return answers.some(({ ok }) => ok) || answers.length < presses.length;
}
