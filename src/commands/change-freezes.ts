import { z } from 'zod';
import type { AnswerPart } from '../intent/answers/answer.ts';
import { freezeRow, scopeText } from '../intent/arguments/freezes.ts';
import { queryCommand } from '../intent/define.ts';
import type { Freeze } from '../policy/policy-types.ts';

/** Slack accepts 50 blocks in a message. */
const ROWS_MAX = 20;

export const changeFreezes = queryCommand({
  name: 'change freezes',
  summary: 'List current and future freezes, and how to end them',
  examples: ['change freezes'],
  args: z.strictObject({}),

  target: () => null,
  answer: async (_args, { freezes, now }) => {
    const [all, madeInSlack] = await Promise.all([freezes.all(), freezes.madeInSlack()]);
    const at = now();
    const ordered = all.toSorted((a, b) => a.from.getTime() - b.from.getTime());
    const current = ordered.filter(({ from }) => from <= at);
    const future = ordered.filter(({ from }) => from > at);
    const offers = madeInSlack.map(({ id, scope }) => ({
      label: `Unfreeze ${scopeText(scope)} (${id})`,
      line: `change unfreeze ${id}`,
    }));
    return {
      title: current.length > 0 ? `Frozen now: ${current.length}` : 'Nothing is frozen now',
      parts: [
        ...listed('Now', current),
        ...listed('Future', future),
        {
          kind: 'note',
          text: 'Freezes in signalbox.yaml end at their time, or when the file is edited.',
        },
        { kind: 'offers', offers },
      ],
    };
  },
});

function listed(heading: string, freezes: readonly Freeze[]): readonly AnswerPart[] {
  if (freezes.length === 0) return [];
  return [
    { kind: 'lines', lines: [[{ bold: heading }]] },
    { kind: 'rows', rows: freezes.slice(0, ROWS_MAX).map(freezeRow) },
    ...(freezes.length > ROWS_MAX
      ? [{ kind: 'note', text: `${freezes.length - ROWS_MAX} more not shown.` } as const]
      : []),
  ];
}
