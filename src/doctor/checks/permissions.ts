import type { TimedResult } from '../../base/errors.ts';
import { ApiError } from '../../base/errors.ts';
import type { Command } from '../../commands/define.ts';
import { utcStamp } from '../../domain/answer.ts';
import { allows } from '../../domain/policy.ts';
import type { LastOutcome } from '../../log/old/last-outcomes.ts';
import { CLOUD_ROLES, type CloudPermission } from '../../servers/accepted-values.ts';
import type { CheckContext } from '../check-context.ts';
import { type CheckLine, ok, skipped, warning } from '../line.ts';
import { type CapabilityCheck, grantText } from './optional-reads.ts';

const FORBIDDEN = 403;

/** What shows whether the key has a permission, without a write. */
interface Evidence {
  readonly usage: TimedResult<unknown>;
  /** The results of the optional reads; empty without them. */
  readonly capabilities: readonly CapabilityCheck[];
  /** The last outcome of each change command; empty if it was not read. */
  readonly outcomes: readonly LastOutcome[];
}

type Verdict = { readonly isGranted: boolean; readonly because: string };

/** One line for each permission that a command of the policy needs. */
export function permissionLines(
  { commands, config }: Pick<CheckContext, 'commands' | 'config'>,
  evidence: Evidence,
): readonly CheckLine[] {
  const allowed = commands.filter(({ name }) =>
    config.policy.rules.some((rule) => allows(rule, name)),
  );
  const permissions = Object.keys(CLOUD_ROLES) as CloudPermission[];
  return permissions.flatMap((permission) => {
    const needing = allowed.filter((command) => command.permission === permission);
    return needing.length === 0 ? [] : [permissionLine(permission, needing, evidence)];
  });
}

function permissionLine(
  permission: CloudPermission,
  needing: readonly Command[],
  evidence: Evidence,
): CheckLine {
  const names = needing.map(({ name }) => name);
  const needed = `needed by ${names.join(', ')}`;
  const verdict = ofRead(permission, evidence) ?? ofChanges(names, evidence.outcomes);
  if (verdict === null) {
    const says = `${needed}; not checked, because the doctor changes nothing`;
    return skipped(permission, says, `${CLOUD_ROLES[permission]} is a role that has it`);
  }
  if (verdict.isGranted) return ok(permission, `granted: ${verdict.because}; ${needed}`);
  return warning(permission, `missing: ${verdict.because}; ${needed}`, grantText(permission));
}

function ofRead(permission: CloudPermission, { usage, capabilities }: Evidence): Verdict | null {
  if (permission === 'organization:view') {
    if (usage.ok) return { isGranted: true, because: 'the usage report was read' };
    const isRefused = usage.error instanceof ApiError && usage.error.status === FORBIDDEN;
    return isRefused ? { isGranted: false, because: 'the usage report was refused (403)' } : null;
  }
  const reads = capabilities.filter((one) => one.permission === permission);
  const seen = reads.find(({ read }) => read.known || read.gap === 'refused');
  if (!seen) return null;
  const because = `${seen.capability} ${seen.read.known ? 'were read' : 'were refused (403)'}`;
  return { isGranted: seen.read.known, because };
}

function ofChanges(names: readonly string[], outcomes: readonly LastOutcome[]): Verdict | null {
  const own = outcomes
    .filter(({ command }) => names.includes(command))
    .toSorted((a, b) => b.outcome.at.getTime() - a.outcome.at.getTime());
  const last = own.find(({ outcome }) => outcome.how === 'succeeded' || isForbidden(outcome));
  if (!last) return null;
  const { command, outcome } = last;
  const at = utcStamp(outcome.at);
  return isForbidden(outcome)
    ? { isGranted: false, because: `${command} was refused (403) at ${at}` }
    : { isGranted: true, because: `${command} succeeded at ${at}` };
}

function isForbidden(outcome: LastOutcome['outcome']): boolean {
  return outcome.how === 'failed' && outcome.status === FORBIDDEN;
}
