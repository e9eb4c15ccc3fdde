import type { ChangeId, UserId, Verb } from '../../../src/domain/change.ts';
import type { Kind } from './commands.ts';
import { ANA, BEN, BREAK_GLASS_KIND, CLEO, DORA, FINN, MEMBERS } from './people.ts';
import type { Fault } from './server.ts';
import type { Simulation } from './simulation-types.ts';

export interface Scenario {
  readonly name: string;
  /** The number of requests without a crash, where it matters. */
  readonly sends?: number;
  readonly play: (simulation: Simulation) => Promise<void>;
}

const MINUTE_MS = 60_000;
const THING = 'staging';

/** Requests and confirms a change; a request without an answer is repeated once. */
async function asks(simulation: Simulation, by: UserId, kind: Kind, inMs = 0) {
  const id = await drafts(simulation, by, kind, inMs);
  await presses(simulation, by, 'confirm', id);
  return id;
}

async function drafts(simulation: Simulation, by: UserId, kind: Kind, inMs = 0): Promise<ChangeId> {
  const first = await simulation.ask(by, kind, THING, inMs);
  const { id } = first.id ? first : await simulation.ask(by, kind, THING, inMs);
  if (!id) throw new Error(`${kind} was refused`);
  return id;
}

async function presses(
  simulation: Simulation,
  by: UserId,
  verb: Verb,
  id: ChangeId,
): Promise<void> {
  const answered = await simulation.press(by, verb, id);
  if (!answered) await simulation.press(by, verb, id);
  await simulation.work();
}

/** A standing approval of stops, which Ana asked for and two people approved. */
export async function allowed(simulation: Simulation, uses: number): Promise<ChangeId> {
  const first = await simulation.allow(ANA, THING, uses);
  const id = first ?? (await simulation.allow(ANA, THING, uses));
  if (!id) throw new Error('The standing approval was refused');
  await presses(simulation, ANA, 'confirm', id);
  await presses(simulation, BEN, 'approve', id);
  await presses(simulation, CLEO, 'approve', id);
  return id;
}

async function decided(simulation: Simulation, kind: Kind, fault?: Fault) {
  const id = await asks(simulation, ANA, kind);
  if (fault) simulation.server.arm(fault);
  await presses(simulation, BEN, 'approve', id);
  if (kind === 'service scale') await presses(simulation, CLEO, 'approve', id);
  return id;
}

async function resolveUnknown(simulation: Simulation, verb: Verb): Promise<void> {
  const id = await decided(simulation, 'service create', 'reset-after');
  simulation.pass(3 * MINUTE_MS);
  await simulation.work();
  await presses(simulation, CLEO, verb, id);
}

/** Scenarios that run once without a crash and once for each possible crash. */
export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'a change runs by a standing approval, which has one use',
    sends: 1,
    play: async (t) => {
      await allowed(t, 1);
      await asks(t, FINN, 'service stop');
      await t.work();
      await t.ask(FINN, 'service stop', THING);
    },
  },
  {
    name: 'two processes decide about the last use',
    sends: 1,
    play: async (t) => {
      await allowed(t, 1);
      const first = await drafts(t, FINN, 'service stop');
      const second = await drafts(t, ANA, 'service stop');
      await t.press(FINN, 'confirm', first);
      await t.press(ANA, 'confirm', second);
      await t.workTogether();
      await t.work();
    },
  },
  {
    name: 'a standing approval is revoked while a use waits for its time',
    sends: 0,
    play: async (t) => {
      const id = await allowed(t, 2);
      await asks(t, FINN, 'service stop', 10 * MINUTE_MS);
      await presses(t, BEN, 'revoke', id);
      t.pass(10 * MINUTE_MS);
      await t.work();
    },
  },
  {
    name: 'two users approve a change, and it runs',
    play: async (t) => void (await decided(t, 'service scale')),
  },
  {
    name: 'one user approves a later start, and another one approves that',
    play: async (t) => {
      const id = await asks(t, ANA, 'service scale');
      await presses(t, BEN, 'narrow', id);
      await presses(t, CLEO, 'approve', id);
      t.pass(3 * MINUTE_MS);
      await t.work();
    },
  },
  {
    name: 'one user approves a creation',
    play: async (t) => void (await decided(t, 'service create')),
  },
  { name: 'no approval is necessary', play: async (t) => void (await asks(t, ANA, 'alert edit')) },
  {
    name: 'a creation gets an error without a definite outcome',
    play: async (t) => void (await decided(t, 'service create', 'error-after')),
  },
  {
    name: 'the server rejects the request',
    play: async (t) => void (await decided(t, 'service scale', 'refused')),
  },
  {
    name: 'the server limits the rate',
    play: async (t) => {
      await decided(t, 'service create', 'too-many');
      t.pass(MINUTE_MS);
      await t.work();
    },
  },
  {
    name: 'a user resolves an unknown outcome as applied',
    play: (t) => resolveUnknown(t, 'happened'),
  },
  {
    name: 'a user resolves an unknown outcome as not applied',
    play: (t) => resolveUnknown(t, 'did-not-happen'),
  },
  {
    name: 'an edit without an answer is verified by a read',
    play: async (t) => {
      t.server.arm('reset-after');
      await asks(t, ANA, 'alert edit');
    },
  },
  {
    name: 'one user approves and another one rejects',
    play: async (t) => {
      const id = await asks(t, ANA, 'service scale');
      await presses(t, BEN, 'approve', id);
      await presses(t, CLEO, 'reject', id);
      await presses(t, BEN, 'approve', id);
    },
  },
  {
    name: 'the requester approves and cancels, and another user approves afterwards',
    play: async (t) => {
      const id = await asks(t, ANA, 'service create');
      await presses(t, ANA, 'approve', id);
      await presses(t, DORA, 'approve', id);
      await presses(t, ANA, 'cancel', id);
      await presses(t, BEN, 'approve', id);
    },
  },
  {
    name: 'two changes have the same target',
    play: async (t) => {
      const first = await asks(t, ANA, 'service create');
      const second = await asks(t, FINN, 'service create');
      await t.press(BEN, 'approve', first);
      await t.press(CLEO, 'approve', second);
      await t.work();
      t.pass(MINUTE_MS);
      await t.work();
    },
  },
  {
    name: 'no user decides in time',
    play: async (t) => {
      await asks(t, ANA, 'service scale');
      t.pass(5 * 60 * MINUTE_MS);
      await t.work();
    },
  },
  {
    name: 'a change waits for its scheduled time',
    play: async (t) => {
      const id = await asks(t, ANA, 'service create', 10 * MINUTE_MS);
      await presses(t, BEN, 'approve', id);
      t.pass(10 * MINUTE_MS);
      await t.work();
    },
  },
  {
    name: 'a change is cancelled before its scheduled time',
    play: async (t) => {
      const id = await asks(t, ANA, 'service create', 10 * MINUTE_MS);
      await presses(t, BEN, 'approve', id);
      await presses(t, ANA, 'cancel', id);
      t.pass(10 * MINUTE_MS);
      await t.work();
    },
  },
  {
    name: 'a user uses break-glass, and another one reviews it',
    play: async (t) => {
      const id = await drafts(t, ANA, BREAK_GLASS_KIND);
      await presses(t, ANA, 'break-glass', id);
      await presses(t, CLEO, 'review', id);
    },
  },
  {
    name: 'a freeze begins before the scheduled time',
    play: async (t) => {
      const id = await asks(t, ANA, 'service create', 10 * MINUTE_MS);
      await presses(t, BEN, 'approve', id);
      t.clock.frozen = true;
      t.pass(10 * MINUTE_MS);
      await t.work();
    },
  },
  {
    name: 'an approver leaves before the last one approves',
    play: async (t) => {
      const id = await asks(t, ANA, 'service scale');
      await presses(t, BEN, 'approve', id);
      const { approver = [] } = t.slack.state.members;
      t.slack.state.members = { ...MEMBERS, approver: approver.filter((each) => each !== BEN) };
      await presses(t, CLEO, 'approve', id);
    },
  },
  {
    name: 'Slack is unavailable at the scheduled time, and recovers',
    play: async (t) => {
      const id = await asks(t, ANA, 'service create', 10 * MINUTE_MS);
      await presses(t, BEN, 'approve', id);
      t.slack.state.down = true;
      t.pass(10 * MINUTE_MS);
      await t.work();
      t.slack.state.down = false;
      t.pass(MINUTE_MS);
      await t.work();
    },
  },
  {
    name: 'another user scales the service before the approved scale is sent',
    play: async (t) => {
      const id = await asks(t, ANA, 'service scale', 10 * MINUTE_MS);
      await presses(t, BEN, 'approve', id);
      await presses(t, CLEO, 'approve', id);
      t.server.edit('service:staging');
      t.pass(10 * MINUTE_MS);
      await t.work();
    },
  },
  {
    name: 'another user edits the alert before the approved edit is sent',
    play: async (t) => {
      await asks(t, ANA, 'alert edit', 10 * MINUTE_MS);
      t.server.edit('alert:staging');
      t.pass(10 * MINUTE_MS);
      await t.work();
    },
  },
];
