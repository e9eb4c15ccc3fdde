import type { Change } from './change.ts';
import { TARGET_TRAITS } from './target-kinds.ts';

/**
 * The title of a change: `service stop` on analytics-prod → `Stop analytics-prod`, `service schedule
 * pause` → `Pause schedule of analytics-prod`, `alert edit` → `Edit alert "5xx rate"`.
 */
export function changeTitle({ command, plan }: Pick<Change, 'command' | 'plan'>): string {
  const [noun = '', first = '', second] = command.split(' ');
  const verb = second ? `${second} ${first} of` : first;
  return `${upperFirst(verb)} ${objectOf({ noun, plan })}`;
}

/** What a change acts on, as a subject: `analytics-prod`, `Alert "5xx rate"`, `Schedule of staging`. */
export function changeSubject({ command, plan }: Pick<Change, 'command' | 'plan'>): string {
  const [noun = '', first = '', second] = command.split(' ');
  const { impliedNoun } = TARGET_TRAITS[plan.target.kind];
  const object = objectOf({ noun, plan });
  if (second) return `${upperFirst(first)} of ${object}`;
  return noun === impliedNoun ? object : upperFirst(object);
}

function objectOf({ noun, plan }: { noun: string; plan: Change['plan'] }): string {
  const { kind, name } = plan.target;
  const what = kind.endsWith(noun) ? noun : `${noun} for`;
  const shown = kind === 'alert' ? `"${name}"` : name;
  return noun === TARGET_TRAITS[kind].impliedNoun ? shown : `${what} ${shown}`;
}

function upperFirst(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
