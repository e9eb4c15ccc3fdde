import type { Capabilities } from './capabilities.ts';
import type { OptionalRead } from './optional-read.ts';

/** Finds out whether the server grants one capability. */
export interface Probe {
  readonly capability: string;
  readonly permission: string | null;
  /** `isDecided` is false where it has to run again: without an answer nothing is known. */
  readonly run: () => Promise<ProbedRead>;
}

export type ProbedRead = OptionalRead<unknown> & { readonly isDecided: boolean };

interface ProbeOptions {
  readonly now: () => Date;
  /** No probe runs before this is true. */
  readonly isReady: () => boolean;
}

/** The probes of a start are spread over a minute. */
const SPREAD_MS = 60_000;
const FIRST_RETRY_MS = 60_000;
const LONGEST_RETRY_MS = 1_800_000;

interface Pending {
  readonly probe: Probe;
  readonly dueAt: number;
  readonly retryMs: number;
}

/** Returns a pass that runs at most one due probe. Each runs until it is decided. */
export function createProbePass(
  probes: readonly Probe[],
  { now, isReady }: ProbeOptions,
): () => Promise<number> {
  let pending: readonly Pending[] | null = null;
  return async () => {
    if (!isReady()) return 0;
    const at = now().getTime();
    pending ??= probes.map((probe, index) => ({
      probe,
      dueAt: at + (index * SPREAD_MS) / probes.length,
      retryMs: FIRST_RETRY_MS,
    }));
    const due = pending.find(({ dueAt }) => dueAt <= at);
    if (!due) return 0;
    const { probe, retryMs } = due;
    const { isDecided } = await probe.run();
    const others = pending.filter((one) => one !== due);
    const next = Math.min(2 * retryMs, LONGEST_RETRY_MS);
    pending = isDecided ? others : [...others, { probe, dueAt: at + retryMs, retryMs: next }];
    return 0;
  };
}

/** Sends one probe. It is decided by a value, or if the capability is switched off. */
export async function runProbe<Name extends string>(
  capabilities: Capabilities<Name>,
  name: Name,
  attempt: { readonly subject: string | null; readonly send: () => Promise<unknown> },
): Promise<ProbedRead> {
  const before = capabilities.blocked(name, null);
  if (before !== null) return { ...before, isDecided: true };
  const read = await capabilities.attempt(name, { ...attempt, isProbe: true });
  return { ...read, isDecided: read.known || capabilities.blocked(name, null) !== null };
}
