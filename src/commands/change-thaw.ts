import { z } from 'zod';
import type { ChangeId } from '../changes/change.ts';
import { freezeTarget, scopeFrom, scopeWords } from '../intent/arguments/freezes.ts';
import { changeCommand } from '../intent/define.ts';

export const changeThaw = changeCommand({
  name: 'change thaw',
  summary: 'Lift a freeze that was made in Slack before its end',
  examples: ['change thaw tag:prod the launch is over', 'change thaw 7KQ2MX'],
  args: z.strictObject({
    freeze: z.string().min(1).max(100).meta({ label: 'Freeze', names: 'freeze' }),
  }),
  call: 'PUT freeze',
  callClass: 'put',

  target: ({ freeze }, { services }) => freezeTarget(freeze.scope, services),
  observe: () => null,
  desired: ({ freeze: { id, scope, freeze } }) => ({
    lift: id,
    scope: { ...scope },
    until: freeze.until.toISOString(),
  }),
  rows: ({ freeze: { freeze } }) => [
    {
      field: 'until',
      label: 'Frozen until',
      before: freeze.until.toISOString(),
      after: 'lifted as soon as this runs',
    },
  ],
  warnings: ({ freeze: { freeze } }) => [`It was frozen for: ${freeze.reason}`],
  send: async (_target, body, { freezes }, { id, requester: by, reason }) => {
    // The id of a change of ours, as the plan took it from the freeze itself.
    await freezes.lift({ id, by, reason }, String(body.lift) as ChangeId);
    return { requestId: null, reported: [], learned: null };
  },
  undo: (_target, _before, body) => {
    const scope = scopeFrom(body);
    const until = `until=${String(body.until).slice(0, 16)}Z`;
    return { label: 'Freeze it again', line: `change freeze ${scopeWords(scope)} ${until}` };
  },
  endingNote: 'It may be changed again, as far as no other freeze holds.',
});
