import { z } from 'zod';
import { freezeList, scopeText } from '../domain/freezes.ts';
import { queryCommand } from '../intent/define.ts';

export const changeFreezes = queryCommand({
  name: 'change freezes',
  title: 'List freezes',
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
        ...freezeList('Now', current),
        ...freezeList('Future', future),
        {
          kind: 'note',
          text: 'Freezes in signalbox.yaml end at their time, or when the file is edited.',
        },
        { kind: 'offers', offers },
      ],
    };
  },
});
