import type { Logger } from 'pino';
import { createOutageLog } from './base/log.ts';
import { backoffMs, type Clock } from './base/time.ts';
import type { Config, ConfigProblem } from './ops/config.ts';
import type { Metrics, Readings } from './ops/telemetry.ts';
import type { Probes } from './server.ts';
import type { RefusedStart } from './start-checks.ts';

interface RetryOptions {
  readonly log: Logger;
  readonly clock: Clock;
  /** Ends a start that is not complete. */
  readonly cancel: AbortSignal | undefined;
}

interface StartRetries {
  /** The problems for which the start waits; empty while it proceeds. */
  readonly problems: () => readonly ConfigProblem[];
  /** Repeats a step of the start until it succeeds, needs a person, or the start is cancelled. */
  readonly repeat: <Step extends { readonly ok: true }>(
    step: () => Promise<Step | RefusedStart>,
  ) => Promise<Step | RefusedStart>;
}

const LINES = {
  began: 'the start waits; Signalbox retries until it succeeds',
  ended: 'the start proceeds after a temporary problem',
};

/**
 * Repeats the steps of a start after 1 s to 30 s while their problems pass without a person. A
 * supervisor that restarts the process instead would give up during a long outage.
 */
export function createStartRetries({ log, clock, cancel }: RetryOptions): StartRetries {
  const outage = createOutageLog(log, LINES);
  let problems: readonly ConfigProblem[] = [];
  return {
    problems: () => problems,
    repeat: async (step) => {
      for (let failures = 1; ; failures += 1) {
        const result = await step();
        if (result.ok) outage.ended();
        problems = result.ok ? [] : result.problems;
        if (result.ok || result.lasting || cancel?.aborted) return result;
        for (const { where, problem } of problems) outage.failed(problem, { where, problem });
        await clock.sleep(backoffMs(failures, clock), cancel);
        if (cancel?.aborted) return result;
      }
    },
  };
}

interface StartingState {
  readonly metrics: Metrics;
  readonly problems: () => readonly ConfigProblem[];
  readonly config: Config;
  readonly now: () => Date;
}

/** The probes until the bot runs: alive, but not ready. */
export function startingProbes({ problems, config, metrics, now }: StartingState): Probes {
  const disconnected = () => problems()[0]?.problem ?? 'Signalbox is starting.';
  const isDatabase = () => problems().some(({ where }) => where === 'DATABASE_URL');
  const readings = (): Readings => ({
    gauges: isDatabase() ? () => Promise.reject(new Error('not open')) : null,
    isWritable: async () => false,
    isConnected: () => false,
    configuration: () => config.configHash,
  });
  const { contentType } = metrics;
  const text = () => metrics.text(readings(), now());
  const notReady = async () => disconnected();
  return { notReady, disconnected, metrics: { contentType, text } };
}
