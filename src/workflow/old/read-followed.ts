import type { CommandContext, Progress, SettledRule } from '../../commands/index.ts';
import type { Change, FollowUp } from '../../domain/change.ts';
import { appliedScaling } from '../../servers/facts.ts';
import { candidatesIn, candidatesProgress, type Listed } from './candidates.ts';

/** One reading of the target of a change. */
export type TargetReading =
  | {
      readonly known: true;
      readonly progress: Progress;
      readonly candidates: FollowUp['candidates'];
    }
  | {
      readonly known: false;
      /** Continues “unknown: ”. */
      readonly why: string;
      /** The server refuses this read, so that another attempt does not help. */
      readonly isRefused: boolean;
    };

type CloudReads = CommandContext['reads']['cloud'];
type Read = Awaited<ReturnType<CloudReads['services' | 'service' | 'endpoint' | 'endpoints']>>;

/** Each reading is sent: a cached one may be older than the request. */
const FRESH = { fresh: true } as const;
const LONGEST_REASON = 200;

/** Reads the target of a sent change; for a creation without an answer, what it may have created. */
export async function readFollowed(
  reads: CloudReads,
  change: Change,
  rule: SettledRule,
  sentAt: Date,
): Promise<TargetReading> {
  const id = followedId(change, rule);
  if (id === null) return readCandidates(reads, change, rule, sentAt);
  const { body, target } = change.plan;
  if (rule.reads === 'endpoint') {
    const read = await reads.endpoint(target.id, id, FRESH);
    return read.known ? known(rule.judge(read.value, body)) : unknown(read);
  }
  const read = await reads.service(id, FRESH);
  if (!read.known) return unknown(read);
  return known(rule.judge({ ...read.value, applied: appliedScaling(read.value) }, body));
}

/** The id of what is read; null for a creation without an answer. */
export function followedId({ plan, outcome }: Change, { wasOpen }: SettledRule): string | null {
  if (wasOpen) return plan.target.id;
  return outcome?.how === 'succeeded' ? (outcome.createdId ?? null) : null;
}

async function readCandidates(
  reads: CloudReads,
  change: Change,
  { reads: thing }: SettledRule,
  sentAt: Date,
): Promise<TargetReading> {
  const read = thing === 'service' ? await listServices(reads) : await listEndpoints(reads, change);
  if (!read.known) return unknown(read);
  const candidates = candidatesIn(read.value, change, sentAt);
  return known(candidatesProgress(candidates, thing), candidates);
}

type ListedRead = Extract<Read, { known: false }> | { known: true; value: readonly Listed[] };

async function listServices(reads: CloudReads): Promise<ListedRead> {
  const read = await reads.services(FRESH);
  if (!read.known) return read;
  return { known: true, value: read.value.map((each) => ({ ...each, type: null })) };
}

async function listEndpoints(reads: CloudReads, { plan }: Change): Promise<ListedRead> {
  const read = await reads.endpoints(plan.target.id, FRESH);
  if (!read.known) return read;
  const value = read.value.map(({ id, description, type, status }) => {
    return { id, name: description, type, state: status, createdAt: null };
  });
  return { known: true, value };
}

function known(progress: Progress, candidates: FollowUp['candidates'] = []): TargetReading {
  return { known: true, progress, candidates };
}

function unknown({ gap, why }: Extract<Read, { known: false }>): TargetReading {
  const isRefused = ['off', 'refused', 'no-route'].includes(gap);
  return { known: false, why: why.slice(0, LONGEST_REASON), isRefused };
}
