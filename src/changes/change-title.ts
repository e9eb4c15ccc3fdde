import type { Change } from './change.ts';

/** The title of a change: `service stop` on analytics-prod → `Stop analytics-prod`. */
export function changeTitle({ command, plan }: Pick<Change, 'command' | 'plan'>): string {
  const [noun = '', verb = ''] = command.split(' ');
  const { kind, name } = plan.target;
  const isObvious = kind === 'freeze' || (kind === noun && noun === 'service');
  const what = kind.endsWith(noun) ? noun : `${noun} for`;
  const words = [`${verb.charAt(0).toUpperCase()}${verb.slice(1)}`, isObvious ? '' : what, name];
  return words.filter((word) => word !== '').join(' ');
}
