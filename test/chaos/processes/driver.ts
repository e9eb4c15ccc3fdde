import { setTimeout as pause } from 'node:timers/promises';
import { ImpossibleInteraction } from '../../../sandbox/slack/interactions/actor.ts';
import type { StoredMessage } from '../../../sandbox/slack/records.ts';
import { hasButton, isCard } from '../../harness/messages.ts';
import { ANA, BEN } from '../../harness/users.ts';
import type { ControlledBot } from './child.ts';
import type { ControlledSandbox } from './controlled-sandbox.ts';

const LEASE_MS = 180_000;
const PATIENCE_MS = 60_000;
/** A restarted bot finishes its work within this time. Afterwards users press again, without effect. */
const SOON_MS = 400;
const ENDED = /[●✕]|◐ .* is |outcome unknown/;
const STEP_MS = 15_000;
const STEP_TAKES_MS = 1_000;

/** A command line and the cloud operation that it runs. */
export interface Call {
  readonly line: string;
  readonly operation: string;
}

export const CALLS = {
  patch: { line: '/service stop staging for the night', operation: 'set state' },
  post: {
    line: '/service create "analytics new" provider=aws region=eu-west-1 ip=10.0.0.0/8 min=16 max=32 "a market"',
    operation: 'create service',
  },
} satisfies Record<string, Call>;

export interface CardPlace {
  readonly card: Pick<StoredMessage, 'channel' | 'ts'>;
}

/** Users who wait for an answer and press again if there is none. */
export async function startDriver(sandbox: ControlledSandbox, death: string) {
  const { slack } = sandbox;
  let crashes = 0;
  let bot = await alive(await sandbox.start(death));

  async function alive(started: ControlledBot | null): Promise<ControlledBot> {
    const own = started ?? (await sandbox.start());
    if (!own) throw new Error('The bot does not start');
    sandbox.deliverTo(own);
    return own;
  }

  async function revived(): Promise<void> {
    if (bot.isAlive()) return;
    crashes += 1;
    sandbox.pass(LEASE_MS);
    bot = await alive(await sandbox.start());
  }

  /** Polls until `look` returns a value; undefined if the bot crashes before. */
  async function seen<T>(look: () => T | undefined, what: string, ms = PATIENCE_MS) {
    const end = performance.now() + ms;
    while (performance.now() < end) {
      const found = look();
      if (found !== undefined) return found;
      if (!bot.isAlive()) return undefined;
      await pause(5);
    }
    throw new Error(`Timed out waiting for ${what}`);
  }

  /** Repeats `act` until `look` returns a value, across crashes of the bot. */
  async function insist<T>(act: () => Promise<unknown>, look: () => T | undefined, what: string) {
    for (let time = 0; time < 4; time += 1) {
      await revived();
      // A restarted bot may have finished the work, so `act` is not repeated then.
      const there = time > 0 ? await seen(look, what, SOON_MS).catch(() => undefined) : undefined;
      if (there !== undefined) return there;
      await act().catch(refuseOther);
      const found = await seen(look, what);
      if (found !== undefined) return found;
    }
    throw new Error(`The bot crashes repeatedly before ${what}`);
  }

  const privately = () => slack.messages('ops').filter(({ ephemeralFor }) => ephemeralFor === ANA);
  const preview = () => privately().findLast((each) => hasButton(each, 'change.confirm'));
  const card = () => slack.messages('db-approvals').find(isCard);
  const press = async (as: string, at: StoredMessage | undefined, id: string) => {
    if (!at) throw new ImpossibleInteraction('there is no such message');
    return slack.click(as, { in: 'message', channel: at.channel, ts: at.ts }, id);
  };

  const isEnded = () => (ENDED.test(card()?.text ?? '') ? true : undefined);

  /** Advances the clock in small steps, so that no lease of a slow process expires. */
  async function ended(): Promise<void> {
    for (let step = 0; step < 60; step += 1) {
      await revived();
      if (await seen(isEnded, 'an ending', STEP_TAKES_MS).catch(() => undefined)) return;
      sandbox.pass(STEP_MS);
    }
    throw new Error('Timed out waiting for an outcome');
  }

  /** Requests, confirms and approves the change of a line, and waits until it has ended. */
  async function live({ line }: Pick<Call, 'line'>): Promise<CardPlace['card']> {
    await insist(() => slack.command(ANA, 'ops', line), preview, 'a preview');
    const posted = await insist(() => press(ANA, preview(), 'change.confirm'), card, 'a card');
    const decided = () => (card()?.text.includes(' requests: ') ? undefined : card());
    await insist(() => press(BEN, card(), 'change.approve'), decided, 'a decision');
    await ended();
    for (let round = 0; round < 3; round += 1) {
      await revived();
      sandbox.pass(LEASE_MS);
      await seen(isEnded, 'an ending');
      await pause(100);
    }
    return { channel: posted.channel, ts: posted.ts };
  }
  /** Advances the clock to a time and then in small steps, until `look` returns a value. */
  async function from<T>(time: Date, look: () => T | undefined, what: string): Promise<T> {
    await revived();
    sandbox.pass(time.getTime() - sandbox.clock.now.getTime());
    for (let step = 0; step < 60; step += 1) {
      await revived();
      const found = await seen(look, what, STEP_TAKES_MS).catch(() => undefined);
      if (found !== undefined) return found;
      sandbox.pass(STEP_MS);
    }
    throw new Error(`Timed out waiting for ${what}`);
  }
  return { live, from, crashes: () => crashes };
}

function refuseOther(error: unknown): void {
  // A missing button was pressed before, or its change is decided.
  if (!(error instanceof ImpossibleInteraction)) throw error;
}
