import type {
  Change,
  ChangeId,
  ChannelId,
  RoleName,
  UserId,
  Verb,
} from '../../../src/domain/change.ts';
import type { Identity, People } from '../../../src/domain/gate.ts';
import type { ClickOutcome } from '../../../src/workflow/old/clicks.ts';
import type { Messenger } from '../../../src/workflow/old/messenger-port.ts';
import type { Ports } from './ports.ts';

/** How long Signalbox may cache a membership lookup. */
const KEPT_MS = 60_000;

export interface Card {
  readonly ts: string;
  readonly change: ChangeId;
  version: number;
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
  const told: ClickAnswer[] = [];
  const readAt = new Map<UserId, Date>();
  const listeners: ((change: Change) => void)[] = [];
  const shown = (change: Change) => {
    for (const listener of listeners) listener(change);
  };

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

  function needsSlack(): void {
    if (state.down) throw new Error('Slack does not answer');
  }

  function messenger(ports: Ports): Messenger {
    const said = (name: string) => () => ports.call(name, async () => needsSlack());
    const known: Partial<Messenger> = {
      postCard: (change, { again }) =>
        ports.call('post card', async () => {
          needsSlack();
          const there = again ? cards.find((card) => card.change === change.id) : undefined;
          if (there) return { channel: 'CCARDS' as ChannelId, ts: there.ts };
          const ts = `${cards.length + 1}.0`;
          cards.push({ ts, change: change.id, version: change.version });
          shown(change);
          return { channel: 'CCARDS' as ChannelId, ts };
        }),
      redrawCard: (change, at) =>
        ports.call('redraw card', async () => {
          needsSlack();
          const card = cards.find(({ ts }) => ts === at.ts);
          if (!card) return 'deleted';
          card.version = change.version;
          shown(change);
          return 'drawn';
        }),
      answerClick: (replyTo, clicked) =>
        ports.call('answer', async () => {
          needsSlack();
          told.push({
            to: replyTo.user,
            verb: clicked.verb,
            ok: clicked.ok,
            change: idOf(clicked),
          });
        }),
    };
    // All other messages are port calls too, and are not checked.
    return new Proxy(known as Messenger, {
      get: (own, name: keyof Messenger) => own[name] ?? said(String(name)),
    });
  }

  /** Called for each change that a card shows. */
  const onCard = (listener: (change: Change) => void) => listeners.push(listener);

  return { state, cards, onCard, told, readAt, rolesOf, everIn, people, messenger };
}

export type Slack = ReturnType<typeof openSlack>;

function idOf(clicked: ClickOutcome): ChangeId | null {
  const change: Change | null = clicked.ok ? clicked.change : clicked.denial.change;
  return change?.id ?? null;
}
