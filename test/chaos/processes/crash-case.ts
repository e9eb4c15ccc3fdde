import type { Change } from '../../../src/domain/change.ts';
import { cardTitle } from '../../../src/slack/card-state.ts';
import { readEndState, violationsOfLocks } from '../../harness/end-state.ts';
import { isCard } from '../../harness/messages.ts';
import { withLog } from '../../harness/read-log.ts';
import { drawing } from '../../slack/fixtures.ts';
import { isTakenOver } from '../sim/at-the-end.ts';
import { type ControlledSandbox, startControlledSandbox } from './controlled-sandbox.ts';
import { type Call, type CardPlace, startDriver } from './driver.ts';

/** The steps of a change at which a process can crash: before and after each commit, and around the request. */
export const STEPS = [
  'before drafted',
  'after drafted',
  'before pressed confirm',
  'after pressed confirm',
  'before confirmed',
  'after confirmed',
  'before card-posted',
  'after card-posted',
  'before pressed approve',
  'after pressed approve',
  'before approved',
  'after approved',
  'before claimed',
  'after claimed',
  'after note',
  'at the server',
  'before succeeded|failed|unknown|not-sent',
  'after succeeded|failed|unknown|not-sent',
  'before job card 2',
  'after job card 2',
  'before job card 3',
] as const;
export type Step = (typeof STEPS)[number];

export const FAULTS = [
  null,
  '500',
  '502-after-effect',
  'reset',
  'reset-after-effect',
  'hang',
  'truncated-json',
  '429-retry-after',
] as const;
export type Fault = (typeof FAULTS)[number];

export interface Case {
  readonly step: Step;
  readonly fault: Fault;
  readonly call: Call;
}

export interface CrashResult {
  readonly crashed: boolean;
  readonly wrong: readonly string[];
}

/** Runs one change with one crash and one fault, and returns the violated promises. */
export async function play(databaseUrl: string, { step, fault, call }: Case): Promise<CrashResult> {
  const sandbox = await startControlledSandbox({ databaseUrl });
  try {
    const { operation } = call;
    if (fault) sandbox.cloud.injectFault({ operation, fault, times: 1 });
    const driver = await startDriver(sandbox, step === 'at the server' ? '' : step);
    if (step === 'at the server') killAtRequest(sandbox, operation);
    const card = await driver.live(call);
    await sandbox.stopBots();
    const wrong = await violationsOf(sandbox, {
      databaseUrl,
      call,
      card,
      mayBeUnknown: mayBeUnknown(step, fault),
    });
    return { crashed: driver.crashes() > 0, wrong };
  } finally {
    await sandbox.close();
  }
}

const UNDER_WAY: readonly Step[] = [
  'after claimed',
  'after note',
  'at the server',
  'before succeeded|failed|unknown|not-sent',
];
// Cards are drawn in parallel with the request, which may or may not be finished at these steps.
const BESIDE: readonly Step[] = ['before job card 2', 'after job card 2', 'before job card 3'];
const ANSWERED: readonly Fault[] = [null, '429-retry-after'];

/** An unknown outcome is correct after a crash during the request, or without a definite answer. */
function mayBeUnknown(step: Step, fault: Fault): (change: Change) => boolean {
  const always = UNDER_WAY.includes(step) || !ANSWERED.includes(fault);
  return (change) => always || (BESIDE.includes(step) && isTakenOver(change));
}

/** Kills the process when the request has arrived; the server continues with it. */
function killAtRequest({ cloud, living }: ControlledSandbox, operation: string): void {
  const stopListening = cloud.onRequest(() => {
    if (cloud.count(operation) === 0) return;
    stopListening();
    for (const bot of living()) void bot.kill();
  });
}

interface Facts extends CardPlace {
  readonly databaseUrl: string;
  readonly call: Call;
  readonly mayBeUnknown: (change: Change) => boolean;
}

async function violationsOf(sandbox: ControlledSandbox, facts: Facts): Promise<readonly string[]> {
  const { databaseUrl, call, card } = facts;
  return withLog(databaseUrl, async (log) => {
    const { confirmed: sent, violations } = await readEndState(log);
    return [
      ...violations,
      ...wrongWithDeliveries(sandbox, call),
      ...(sent.length === 1 ? [] : [`${sent.length} changes were confirmed`]),
      ...sent.flatMap((change) => wrongWithEnding(sandbox, change, facts)),
      ...(await violationsOfLocks(log, sent)),
      ...sent.flatMap((change) => wrongWithCard(sandbox, change, card)),
    ];
  });
}

function wrongWithDeliveries({ cloud }: ControlledSandbox, { operation }: Call): readonly string[] {
  const sent = cloud.requests().filter((each) => each.operation === operation);
  const executed = sent.filter(({ status }) => status !== 429);
  return [
    ...(executed.length > 1 ? [`sent ${executed.length} times`] : []),
    ...(cloud.effectCount(operation) > 1 ? ['it took effect twice'] : []),
  ];
}

function wrongWithEnding(
  sandbox: ControlledSandbox,
  change: Change,
  { call, mayBeUnknown: may }: Facts,
): readonly string[] {
  const { state } = change;
  const effects = sandbox.cloud.effectCount(call.operation);
  if (state === 'succeeded') return effects === 1 ? [] : ['“succeeded” without effect'];
  if (state === 'failed') return effects === 0 ? [] : ['“failed” with an effect'];
  if (state !== 'unknown') return [`it ended as ${state}`];
  return may(change) ? [] : ['the outcome is unknown, although it was answered and stored'];
}

function wrongWithCard(
  sandbox: ControlledSandbox,
  change: Change,
  card: CardPlace['card'],
): readonly string[] {
  const all = sandbox.slack.messages('db-approvals').filter(isCard);
  const own = all.filter(({ text, blocks }) => JSON.stringify([text, blocks]).includes(change.id));
  if (own.length !== 1) return [`it has ${own.length} cards`];
  const text = own[0]?.text ?? '';
  const isRight = own[0]?.ts === card.ts && text.includes(cardTitle(change, drawing.commands));
  return isRight ? [] : [`its card says “${text.slice(0, 80)}”, and it is ${change.state}`];
}
