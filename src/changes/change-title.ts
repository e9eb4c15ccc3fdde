import type { Change } from './change.ts';
import { TARGET_TRAITS } from './target-kinds.ts';

/**
 * The title of a change: `service stop` on analytics-prod → `Stop analytics-prod`, `service schedule
 * pause` → `Pause schedule of analytics-prod`, `alert edit` → `Edit alert "5xx rate"`.
 */
export function changeTitle({ command, plan }: Pick<Change, 'command' | 'plan'>): string {
  const [noun = '', first = '', second] = command.split(' ');
  const verb = second ? `${second} ${first} of` : first;
  const { kind, name } = plan.target;
  const what = kind.endsWith(noun) ? noun : `${noun} for`;
  const words = [
    `${verb.charAt(0).toUpperCase()}${verb.slice(1)}`,
    noun === TARGET_TRAITS[kind].impliedNoun ? '' : what,
    kind === 'alert' ? `"${name}"` : name,
  ];
  return words.filter((word) => word !== '').join(' ');
}
