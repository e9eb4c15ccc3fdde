import { setTimeout as pause } from 'node:timers/promises';
import { createRandom, type RandomSource } from '../../../sandbox/api/random.ts';
import { ImpossibleInteraction } from '../../../sandbox/slack/interactions/actor.ts';
import type { StoredMessage } from '../../../sandbox/slack/records.ts';
import { sandboxFile } from '../../harness/config.ts';
import { hasButton, isCard } from '../../harness/messages.ts';
import { copiesOfStaging, organizationWith } from '../../harness/services.ts';
import { type ControlledSandbox, startControlledSandbox } from './controlled-sandbox.ts';
import { APPROVER_IDS, largeWorkspace, OPERATORS, shardsYaml } from './large-workspace.ts';
import { wrongWithAll } from './violations.ts';

const REPLICAS = 3;
const FAULTS = ['500', '502-after-effect', 'reset', 'reset-after-effect', 'hang'];
const WAITING = ['429-retry-after', 'truncated-json'];
const STEP_MS = 5_000;
const STEP_TAKES_MS = 250;
const LEASE_MS = 180_000;
/** Each takes a quarter of a second, in which a slow machine does little. */
const MOST_ROUNDS = 400;

export interface ChaosOptions {
  readonly databaseUrl: string;
  readonly changes: number;
  readonly kills: number;
  readonly seed: string;
}

export interface ChaosResult {
  readonly wrong: readonly string[];
  readonly ended: Readonly<Record<string, number>>;
  readonly sent: number;
  readonly killed: number;
  readonly presses: number;
}

/** Runs several processes on one database, with users who press at random, faults and crashes. */
export async function runChaos({
  databaseUrl,
  changes,
  kills,
  seed,
}: ChaosOptions): Promise<ChaosResult> {
  const own = copiesOfStaging(changes);
  const sandbox = await startControlledSandbox({
    databaseUrl,
    organization: organizationWith(own),
    workspace: largeWorkspace,
    yaml: shardsYaml(sandboxFile(), own),
  });
  try {
    // All start at once on an empty database; the first one creates the schema.
    await Promise.all(Array.from({ length: REPLICAS }, () => sandbox.start()));
    if (sandbox.living().length !== REPLICAS) throw new Error('Not every replica has started');
    const users = openUsers(sandbox, createRandom(seed));
    const killed = await users.live(own, kills);
    await sandbox.stopBots();
    const sent = sandbox.cloud.count('set state');
    return {
      ...(await wrongWithAll(sandbox, databaseUrl)),
      sent,
      killed,
      presses: users.presses(),
    };
  } finally {
    await sandbox.close();
  }
}

function openUsers(sandbox: ControlledSandbox, chance: RandomSource) {
  const { slack, cloud } = sandbox;
  let presses = 0;
  const among = <T>(all: readonly T[]): T | undefined => all[Math.floor(chance() * all.length)];

  /** Performs an action of a user, delivered to any of the replicas. */
  async function actAs(act: () => Promise<unknown>): Promise<void> {
    const bot = among(sandbox.living());
    if (bot) sandbox.deliverTo(bot);
    await act().catch((error: unknown) => {
      // A missing button was pressed by another user.
      if (!(error instanceof ImpossibleInteraction)) throw error;
    });
  }
  const cards = () => slack.messages('db-approvals').filter(isCard);
  const previews = () =>
    slack.messages('ops').filter((each) => each.ephemeralFor && hasButton(each, 'change.confirm'));
  const press = (as: string, { channel, ts }: StoredMessage, id: string) => {
    presses += 1;
    return actAs(() => slack.click(as, { in: 'message', channel, ts }, id));
  };

  async function ask(name: string): Promise<void> {
    const by = among(OPERATORS) ?? '';
    await actAs(() => slack.command(by, 'ops', `/service stop ${name} for the night`));
  }

  /** Confirms every preview as its requester. */
  async function confirmAll(): Promise<void> {
    for (const preview of previews()) {
      await press(preview.ephemeralFor ?? '', preview, 'change.confirm');
    }
  }

  async function decideSome(): Promise<void> {
    const open = cards().filter((card) => hasButton(card, 'change.approve'));
    const pressed = Array.from({ length: Math.min(12, open.length * 2) }, async () => {
      const card = among(open);
      const by = among([...APPROVER_IDS, ...OPERATORS]) ?? '';
      if (card) await press(by, card, 'change.approve');
    });
    await Promise.all(pressed);
  }

  function injectRandomFault(): void {
    const fault = among([...FAULTS, ...WAITING]);
    if (fault && chance() < 0.3) cloud.injectFault({ operation: 'set state', fault, times: 1 });
  }

  async function killOne(): Promise<void> {
    const victim = among(sandbox.living());
    await victim?.kill();
    await sandbox.start();
  }

  /** What is neither ended nor approved behind an unknown outcome of its service. */
  function openCards(): string[] {
    // The lines below may name the state of another change.
    const titles = cards().map(({ text }) => text.split('\n')[0] ?? '');
    const unknown = new Set(
      titles.flatMap((each) => /^\? (.*): outcome unknown/.exec(each)?.[1] ?? []),
    );
    const waits = (title: string) => unknown.has(/^○ (.*): approved/.exec(title)?.[1] ?? '');
    return titles.filter((title) => STILL.test(title) && !waits(title));
  }
  const isDone = (wanted: readonly string[]) => openCards().length === 0 && wanted.every(shown);

  async function live(own: ReturnType<typeof copiesOfStaging>, kills: number): Promise<number> {
    const names = own.map(({ name }) => name);
    let killed = 0;
    let asked = 0;
    for (let round = 0; !isDone(names); round += 1) {
      if (round > MOST_ROUNDS + names.length * 4)
        throw new Error(`The changes do not finish:\n${openCards().join('\n')}`);
      const batch = names.slice(asked, asked + 10);
      asked += batch.length;
      // Users repeat a command whose preview was lost in a crash.
      const lost = round % 20 === 19 ? names.slice(0, asked).filter((name) => !shown(name)) : [];
      await Promise.all([...batch, ...lost].map(ask));
      injectRandomFault();
      await Promise.all([confirmAll(), decideSome()]);
      const due = killed < kills && asked >= ((killed + 1) * names.length) / (kills + 1);
      if (due) await killOne().then(() => (killed += 1));
      sandbox.pass(STEP_MS);
      await pause(STEP_TAKES_MS);
    }
    cloud.clearFaults();
    for (let round = 0; round < 4; round += 1) {
      sandbox.pass(LEASE_MS);
      await pause(STEP_TAKES_MS * 4);
    }
    return killed;
  }

  const shown = (name: string) => {
    const wholeName = new RegExp(`${name}\\b`);
    return cards().some(({ text }) => wholeName.test(text));
  };
  return { live, presses: () => presses };
}

const STILL = / requests: |: (approved|running)/;
