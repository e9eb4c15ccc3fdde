import type { Change } from '../../changes/change.ts';
import type { Refusal } from '../../changes/refusal.ts';
import { neverOver } from '../../policy/decide.ts';
import { denialOf } from '../../workflow/denial.ts';
import type { Line } from '../blocks/rich-text.ts';
import type { Drawing } from './drawing.ts';
import { roleText } from './naming.ts';
import { freezeNote, refusalLine } from './refusals.ts';

/**
 * Why something that was approved was not run, for everyone who reads its card: the sentences of
 * refusals speak to the one person who tries.
 */
export function stoppedLine(change: Change, { policy, prefix }: Drawing): Line {
  const { requires, plan, command } = change;
  // Stored by us from the closed list of refusals, and read back as text.
  const refusal = change.stopped as Refusal;
  if (refusal === 'no-rule') {
    return [`No rule of today’s policy allows /${prefix}${command} on ${plan.target.name}.`];
  }
  if (refusal === 'not-a-requester') {
    const who = roleText(policy, requires.to);
    return ['Today’s policy does not let ', { user: change.requester }, ` ask for this (${who}).`];
  }
  const { frozenBy } = change;
  if (frozenBy) {
    const until: Line = ['was frozen until ', { at: frozenBy.until }];
    return [`When it was to run, ${plan.target.name} `, ...until, ...freezeNote(frozenBy)];
  }
  if (refusal === 'reason-required') return ['Today’s rule asks for a longer reason than it has.'];
  const role = refusal === 'approvals-missing' ? requires.from : requires.breakGlass;
  const never = neverOver(policy, { command, target: plan.target });
  return refusalLine(
    denialOf(refusal, { change, role: role ?? requires.to, never }),
    policy,
    prefix,
  );
}
