import { answerText, minuteText, ruleText } from '../../policy/cases/answer.ts';
import { isPolicyDenial } from '../../policy/cases/expectation.ts';
import { withFreezes } from '../../policy/freezes.ts';
import { storedCheckpoint } from '../../storage/audit/archive/checkpoints.ts';
import { type RecordedRequest, recordedRequests } from '../../storage/audit/recorded-requests.ts';
import type { Db } from '../../storage/engine/database.ts';
import { freezesSince } from '../../storage/tables/freezes.ts';
import { standingFreeze } from '../../workflow/request/current-policy.ts';
import type { AcceptedIds } from '../policy-options.ts';
import { commandsByName } from './case-targets.ts';
import type { PolicyFile } from './read-files.ts';
import { type ReplayedRequest, replayDraft } from './replay-draft.ts';
import { replayRefusal } from './replay-refusal.ts';

interface Replay {
  readonly file: PolicyFile;
  readonly since: Date;
  readonly until: Date;
  readonly accept: AcceptedIds;
}

type Output = (text: string) => Promise<void>;

/**
 * Decides the recorded change requests of a time range by a file, and writes those that it decides
 * otherwise. Returns false if one of them is not accepted.
 */
export async function replayRequests(
  db: Db,
  { file, since, until, accept }: Replay,
  write: Output,
): Promise<boolean> {
  const freezes = await freezesSince(db, since);
  const policyAt = (at: Date) => {
    const active = freezes.filter(
      ({ from, until, liftedAt }) => from <= at && at < until && (!liftedAt || at < liftedAt),
    );
    return withFreezes(
      file.policy,
      active.map((stored) => standingFreeze(stored).freeze),
    );
  };
  const counts = { requests: 0, different: 0, accepted: 0 };
  const found = new Set<string>();
  for await (const request of recordedRequests(db, { since, until })) {
    const replayed = replayRequest(request, { ...file, policy: policyAt(request.at) });
    if (!replayed) continue;
    counts.requests += 1;
    if (replayed.differences.length === 0) continue;
    const isAccepted = accept === 'all' || accept.includes(replayed.id);
    counts.different += 1;
    counts.accepted += isAccepted ? 1 : 0;
    found.add(replayed.id);
    await write(`${linesFor(replayed, isAccepted).join('\n')}\n\n`);
  }
  const { requests, different, accepted } = counts;
  const unused = accept === 'all' ? [] : accept.filter((id) => !found.has(id));
  if (unused.length > 0) await write(`Accepted, but without a difference: ${unused.join(', ')}.\n`);
  const archived = await storedCheckpoint(db);
  if (archived && since < archived.before)
    await write(`Events 1 to ${archived.last} are archived: requests among them are left out.\n`);
  const requestCount = requests === 1 ? '1 change request' : `${requests} change requests`;
  await write(
    `${requestCount} since ${minuteText(since)}: ${requests - different} decided the same, ` +
      `${different} otherwise, ${accepted} of them accepted.\n`,
  );
  return different === accepted;
}

// Allowed queries are not recorded, so that only changes are decided. Refusals that do not come
// from the policy, for example a failed lookup, are the same under every file.
function replayRequest(request: RecordedRequest, file: PolicyFile): ReplayedRequest | null {
  if (request.kind === 'drafted') return replayDraft(request, file);
  const { command, refusal } = request;
  if (commandsByName.get(command)?.kind !== 'change' || !isPolicyDenial(refusal)) return null;
  return replayRefusal(request, refusal, file);
}

function linesFor(replayed: ReplayedRequest, isAccepted: boolean): readonly string[] {
  const { id, request, recorded, answer, differences, assumed } = replayed;
  const { at, by, command, target } = request;
  const mark = isAccepted ? '~' : '✗';
  const accepted = isAccepted ? ' (accepted)' : '';
  return [
    `${mark} ${id}  ${minuteText(at)}  ${by}  ${command} on ${target}${accepted}`,
    ...(recorded ? [`    recorded: ${answerText(recorded)} (${ruleText(recorded)})`] : []),
    ...(answer ? [`    now:      ${answerText(answer)} (${ruleText(answer)})`] : []),
    ...differences.map((difference) => `    why:      ${difference}`),
    ...assumed.map((assumption) => `    assumed:  ${assumption}`),
  ];
}
