import type { EndState } from './check-end-state.ts';
import { type Growth, growthOf } from './memory.ts';
import type { Tally } from './user-actions.ts';

const GROWS_AT_MOST = 1.1;

export interface Soaked {
  readonly minutes: number;
  readonly samples: readonly number[];
  readonly tally: Tally;
  readonly verdict: EndState;
  readonly died: boolean;
}

interface Promised {
  readonly label: string;
  readonly found: string;
  readonly aim: string;
  readonly kept: boolean;
  readonly wrong: readonly string[];
}

/** What must hold after a soak, whatever befell it. */
export function promises({ minutes, samples, tally, verdict, died }: Soaked): readonly Promised[] {
  const none = (label: string, wrong: readonly string[]): Promised => {
    return { label, found: String(wrong.length), aim: 'none', kept: wrong.length === 0, wrong };
  };
  return [
    grown(growthOf(samples, minutes)),
    none('crashed', died ? ['the bot stopped by itself'] : []),
    none('not acknowledged', tally.unacknowledged),
    none('unanswered', tally.unanswered),
    none('changes lost', verdict.lost),
    none('executed twice', verdict.twice),
    none('otherwise than the server counted', verdict.contradicted),
    none('audit chain broken', verdict.chain),
    none(
      'waiting in the queues after a calm',
      verdict.unsent > 0 ? [`${verdict.unsent} rows`] : [],
    ),
  ];
}

function grown({ early, late }: Growth): Promised {
  const ratio = late / early;
  const found = ratio.toFixed(2);
  const aim = `≤ ${GROWS_AT_MOST}`;
  return { label: 'memory, late to early', found, aim, kept: ratio <= GROWS_AT_MOST, wrong: [] };
}

/** All of it for a terminal. */
export function report(soaked: Soaked): string {
  const { tally, verdict, minutes, samples } = soaked;
  const { early, late, most } = growthOf(samples, minutes);
  const gestures = [...tally.done].sort(([, a], [, b]) => b - a);
  const total = gestures.reduce((sum, [, count]) => sum + count, 0);
  const lines = promises(soaked).flatMap(({ label, found, aim, kept, wrong }) => [
    `${label.padEnd(36)}${found.padStart(8)}  ${aim.padEnd(6)}  ${kept ? 'kept' : 'BROKEN'}`,
    ...wrong.slice(0, 10).map((line) => `    ${line}`),
  ]);
  return [
    `${minutes} minutes, ${total} gestures: ${told(gestures)}`,
    `changes sent off: ${told(Object.entries(verdict.endings))}; audit events: ${verdict.events}`,
    `RSS in MiB: ${mib(early)} early, ${mib(late)} at the end, ${mib(most)} at most`,
    '',
    ...lines,
  ].join('\n');
}

function told(counts: readonly (readonly [string, number])[]): string {
  return counts.map(([name, count]) => `${name} ${count}`).join(', ');
}

function mib(value: number): string {
  return value.toFixed(0);
}
