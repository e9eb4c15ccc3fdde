import type { BotKind } from './bot.ts';
import { Stage } from './stage.ts';

const FIRST_MS = 120_000;
/** Less than a lease. */
const HANGING_MS = 90_000;
const SLOWER_MS = 3_000;
const AFTERWARDS_MS = 600_000;

/**
 * When the database splits: after the approval, or before the change has a card. Or it stays whole and loses one of the
 * next commits of the first process, which hangs meanwhile.
 */
export interface Split {
  readonly moment: 'approved' | 'requested' | 'rollback';
  /** The share of Slack's calls that have faults from then on. */
  readonly faults: number;
}

/**
 * One change may run, then the database splits: each of two processes has a primary of its own that knows this. Only Slack
 * is common to both. Returns how often the request arrived; the seed decides the interleaving.
 */
export async function interleave<Tx>(
  seed: number,
  kind: BotKind<Tx>,
  { moment, faults }: Split = { moment: 'approved', faults: 0 },
): Promise<number> {
  const stage = new Stage(seed, kind, 2);
  stage.start(0, 1);
  const subject = 'change/1';
  const isApproved = moment !== 'requested';
  stage.request(0, subject, 't1', isApproved ? 1 : 0);
  await stage.until(() => stage.databases.size > 0, FIRST_MS);
  if (isApproved) {
    await stage.until(() => (stage.card(subject)?.shown.mark.version ?? 0) > 1, FIRST_MS);
    stage.press(0, subject, 'approve', 'ben');
    await stage.until(() => stage.shows(subject, 'approved'), FIRST_MS);
  }

  stage.slack.faults = faults;
  if (moment === 'rollback') {
    let left = 1 + stage.world.below(4);
    stage.onCall = (process, call) => {
      if (process !== 0 || call !== 'commit' || --left !== 0) return;
      stage.lose(stage.commits - 1, stage.world.chance(0.5) ? 'connections end' : 'unnoticed');
      stage.hang(0, stage.world.below(HANGING_MS));
    };
  } else {
    stage.split(1);
    // The other process reads the channels first. So the first one waits, that both claim at about the same time.
    stage.hang(0, stage.world.below(SLOWER_MS));
  }
  await stage.pass(AFTERWARDS_MS);
  stage.end();
  return stage.api.arrivals.length;
}
