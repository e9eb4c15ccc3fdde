import type {
  Change,
  ChangeId,
  ChannelId,
  RoleName,
  State,
  UserId,
  Verb,
} from '../../../src/domain/change.ts';
import type { Identity, People } from '../../../src/domain/gate.ts';
import { LOST_HASH } from '../../../src/domain/place.ts';
import type {
  AttemptMark,
  CardMark,
  Mark,
  Messenger,
  PressOutcome,
} from '../../../src/workflow/context.ts';
import type { Ports } from './ports.ts';

export type Line = Mark & { readonly change: ChangeId };

/** How long Signalbox may cache a membership lookup. */
const KEPT_MS = 60_000;

export interface Card {
  readonly ts: string;
  readonly change: ChangeId;
  /** The last event that it shows. */
  mark: CardMark;
  /** All states that it showed. */
  readonly states: (State | 'lost' | 'other')[];
  isDeleted: boolean;
}

/** A note in the thread of a card. */
export interface Note extends AttemptMark {
  readonly card: Card;
  isDeleted: boolean;
}

export interface ClickAnswer {
  readonly to: UserId;
  readonly verb: Verb;
  readonly ok: boolean;
  readonly change: ChangeId | null;
}

export type Members = Readonly<Record<RoleName, readonly UserId[]>>;

/** The simulated Slack: group members, cards, and answers to clicks. */
export function openSlack(now: () => Date, members: Members) {
  const state = { members, down: false };
  const cards: Card[] = [];
  const notes: Note[] = [];
  /** The lines about executions in the audit channel. */
  const audit: Line[] = [];
  const told: ClickAnswer[] = [];
  const readAt = new Map<UserId, Date>();

  const rolesOf = (user: UserId) =>
    Object.entries(state.members).flatMap(([role, people]) =>
      people.includes(user) ? [role] : [],
    );
  const groups = () => [{ id: 'S0GROUP', size: 3, readAt: now().toISOString() }];

  function identify(user: UserId): Identity {
    if (state.down) return { ok: false, refusal: 'lookup-failed' };
    readAt.set(user, now());
    return { ok: true, actor: { id: user, roles: rolesOf(user) }, evidence: { groups: groups() } };
  }

  /** A process caches a lookup for a minute, unless `fresh` is set. */
  function people(ports: Ports): People {
    const kept = new Map<UserId, { identity: Identity; at: number }>();
    return {
      identify: async (user, { fresh }) => {
        const old = kept.get(user);
        if (!fresh && old && now().getTime() - old.at < KEPT_MS) return old.identity;
        const identity = await ports.call('people', async () => identify(user));
        if (identity.ok) kept.set(user, { identity, at: now().getTime() });
        return identity;
      },
      someMembers: async (role) =>
        state.down ? null : { users: state.members[role] ?? [], more: false },
      zoneOf: async () => (state.down ? null : 'Europe/Berlin'),
    };
  }

  const everIn = (role: RoleName, user: string) =>
    [members, state.members].some((each) => each[role]?.some((id) => id === user));

  const cardAt = ({ ts }: { readonly ts: string }) =>
    cards.find((card) => card.ts === ts && !card.isDeleted);
  const threadAt = (at: { readonly ts: string }) => {
    const card = cardAt(at);
    const below = notes.filter((note) => note.card === card && !note.isDeleted);
    return card ? { card: card.mark, notes: below } : null;
  };

  function needsSlack(): void {
    if (state.down) throw new Error('Slack does not answer');
  }

  function messenger(ports: Ports): Messenger {
    const said = (name: string) => () => ports.call(name, async () => needsSlack());
    const known: Partial<Messenger> = {
      postCard: (change, { again }) =>
        ports.call('post card', async () => {
          needsSlack();
          const there = again
            ? cards.find((card) => card.change === change.id && !card.isDeleted)
            : undefined;
          if (there) return { channel: 'CCARDS' as ChannelId, ts: there.ts };
          const ts = `${cards.length + 1}.0`;
          const mark = markOf(change);
          const shows = { mark, states: [change.state], isDeleted: false };
          cards.push({ ts, change: change.id, ...shows });
          return { channel: 'CCARDS' as ChannelId, ts };
        }),
      redrawCard: (change, at, _schedule, revision) =>
        ports.call('redraw card', async () => {
          needsSlack();
          const card = cardAt(at);
          if (!card) return 'deleted';
          card.mark = { ...markOf(change), revision };
          card.states.push(change.state);
          return 'drawn';
        }),
      postSending: (change, at, mark) =>
        ports.call('post note', async () => {
          needsSlack();
          const card = cardAt(at);
          if (card) notes.push({ ...mark, card, isDeleted: false });
          if (!change) throw new Error('A note is about a change');
        }),
      readThread: (at) =>
        ports.call('read thread', async () => {
          needsSlack();
          return threadAt(at);
        }),
      readCard: (at) =>
        ports.call('read card', async () => {
          needsSlack();
          const card = cardAt(at);
          return card ? { card: card.mark, notes: [] } : null;
        }),
      readMarks: (_since, open) =>
        ports.call('read channel', async () => {
          needsSlack();
          const shown = cards.flatMap(({ ts, change, mark, isDeleted }) =>
            !isDeleted ? [{ ...mark, change, ts, isCard: true }] : [],
          );
          const below = open.flatMap(({ ts }) =>
            (threadAt({ ts })?.notes ?? []).map(({ card, ...note }) => {
              return { ...note, change: card.change, ts, isCard: false };
            }),
          );
          const lines = audit.map((line) => ({ ...line, ts: '0', isCard: false }));
          return [...shown, ...below, ...lines].map(({ ts, ...mark }) => ({
            ...{ ...mark, schedule: null, isFreeze: false },
            at: { channel: 'CCARDS' as ChannelId, ts },
          }));
        }),
      drawLost: (_id, at, other) =>
        ports.call('draw lost', async () => {
          needsSlack();
          const card = cardAt(at);
          if (!card) return;
          const states = card.states.push(other ? 'other' : 'lost');
          card.mark = other ?? { version: 1, hash: `${LOST_HASH}${states}.${at.ts}` };
        }),
      postAuditLine: (change) =>
        ports.call('post audit line', async () => {
          needsSlack();
          audit.push({ ...markOf(change), change: change.id });
        }),
      answerPress: ({ replyTo }, outcome) =>
        ports.call('answer', async () => {
          needsSlack();
          told.push({
            to: replyTo.user,
            verb: outcome.verb,
            ok: outcome.ok,
            change: idOf(outcome),
          });
        }),
      expectAnswer: () => undefined,
      lookupProblem: () => null,
      refusalLine: ({ refusal }) => [refusal],
    };
    // All other messages are port calls too, and are not checked.
    return new Proxy(known as Messenger, {
      get: (own, name: keyof Messenger) => own[name] ?? said(String(name)),
    });
  }

  return { state, cards, notes, audit, told, readAt, rolesOf, everIn, people, messenger };
}

export type Slack = ReturnType<typeof openSlack>;

function markOf({ version, hash }: Change): Mark {
  return { version, hash };
}

function idOf(clicked: PressOutcome): ChangeId | null {
  const change: Change | null = clicked.ok ? clicked.change : clicked.denial.change;
  return change?.id ?? null;
}
