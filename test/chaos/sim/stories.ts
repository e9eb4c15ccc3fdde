import type { ChangeId, UserId } from '../../../src/changes/change.ts';
import type { Verb } from '../../../src/workflow/clicks.ts';
import type { Kind } from './commands.ts';
import { ANA, BEN, CLEO, DORA, FINN, GLASS, MEMBERS } from './people.ts';
import type { Fault } from './server.ts';
import type { Theatre } from './theatre-types.ts';

export interface Story {
  readonly name: string;
  readonly play: (theatre: Theatre) => Promise<void>;
}

const MINUTE_MS = 60_000;
const THING = 'staging';

/** Whoever was not answered asks once more, as people do. */
async function asks(theatre: Theatre, by: UserId, kind: Kind, inMs = 0) {
  const id = await drafts(theatre, by, kind, inMs);
  await presses(theatre, by, 'confirm', id);
  return id;
}

async function drafts(theatre: Theatre, by: UserId, kind: Kind, inMs = 0): Promise<ChangeId> {
  const first = await theatre.ask(by, kind, THING, inMs);
  const { id } = first.id ? first : await theatre.ask(by, kind, THING, inMs);
  if (!id) throw new Error(`${kind} was refused`);
  return id;
}

async function presses(theatre: Theatre, by: UserId, verb: Verb, id: ChangeId): Promise<void> {
  const answered = await theatre.press(by, verb, id);
  if (!answered) await theatre.press(by, verb, id);
  await theatre.work();
}

async function decided(theatre: Theatre, kind: Kind, fault?: Fault) {
  const id = await asks(theatre, ANA, kind);
  if (fault) theatre.server.arm(fault);
  await presses(theatre, BEN, 'approve', id);
  if (kind === 'service scale') await presses(theatre, CLEO, 'approve', id);
  return id;
}

async function doubted(theatre: Theatre, verb: Verb): Promise<void> {
  const id = await decided(theatre, 'service create', 'reset-after');
  theatre.pass(3 * MINUTE_MS);
  await theatre.work();
  await presses(theatre, CLEO, verb, id);
}

/** Whole lives, each played once without a crash and once for every place where one can happen. */
export const STORIES: readonly Story[] = [
  { name: 'two approve, and it runs', play: async (t) => void (await decided(t, 'service scale')) },
  { name: 'one approves a creation', play: async (t) => void (await decided(t, 'service create')) },
  { name: 'nobody has to approve', play: async (t) => void (await asks(t, ANA, 'alert edit')) },
  {
    name: 'a creation is answered with an error',
    play: async (t) => void (await decided(t, 'service create', 'error-after')),
  },
  {
    name: 'the server refuses',
    play: async (t) => void (await decided(t, 'service scale', 'refused')),
  },
  {
    name: 'the server asks to wait',
    play: async (t) => {
      await decided(t, 'service create', 'too-many');
      t.pass(MINUTE_MS);
      await t.work();
    },
  },
  { name: 'somebody saw that it happened', play: (t) => doubted(t, 'happened') },
  { name: 'somebody saw that it did not', play: (t) => doubted(t, 'did-not-happen') },
  {
    name: 'an edit without an answer is looked up',
    play: async (t) => {
      t.server.arm('reset-after');
      await asks(t, ANA, 'alert edit');
    },
  },
  {
    name: 'one approves and one rejects',
    play: async (t) => {
      const id = await asks(t, ANA, 'service scale');
      await presses(t, BEN, 'approve', id);
      await presses(t, CLEO, 'reject', id);
      await presses(t, BEN, 'approve', id);
    },
  },
  {
    name: 'the requester approves, cancels, and somebody approves after that',
    play: async (t) => {
      const id = await asks(t, ANA, 'service create');
      await presses(t, ANA, 'approve', id);
      await presses(t, DORA, 'approve', id);
      await presses(t, ANA, 'cancel', id);
      await presses(t, BEN, 'approve', id);
    },
  },
  {
    name: 'two want the same target',
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
    name: 'nobody decides in time',
    play: async (t) => {
      await asks(t, ANA, 'service scale');
      t.pass(5 * 60 * MINUTE_MS);
      await t.work();
    },
  },
  {
    name: 'it waits for its hour',
    play: async (t) => {
      const id = await asks(t, ANA, 'service create', 10 * MINUTE_MS);
      await presses(t, BEN, 'approve', id);
      t.pass(10 * MINUTE_MS);
      await t.work();
    },
  },
  {
    name: 'it is called off before its hour',
    play: async (t) => {
      const id = await asks(t, ANA, 'service create', 10 * MINUTE_MS);
      await presses(t, BEN, 'approve', id);
      await presses(t, ANA, 'cancel', id);
      t.pass(10 * MINUTE_MS);
      await t.work();
    },
  },
  {
    name: 'somebody breaks the glass, and another one looks at it afterwards',
    play: async (t) => {
      const id = await drafts(t, ANA, GLASS);
      await presses(t, ANA, 'break-glass', id);
      await presses(t, CLEO, 'review', id);
    },
  },
  {
    name: 'a freeze begins before its hour',
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
    name: 'Slack is silent while it is due, and comes back',
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
    name: 'somebody edits the alert before the approved edit is sent',
    play: async (t) => {
      await asks(t, ANA, 'alert edit', 10 * MINUTE_MS);
      t.server.edit('alert:staging');
      t.pass(10 * MINUTE_MS);
      await t.work();
    },
  },
];
