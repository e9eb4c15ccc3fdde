import { expect, test } from 'vitest';
import { ENGINES, freshUrl } from '../storage/engines.ts';
import { ANA, BEN, buttonsOf, CLEO, openStage, textOf } from './stage.ts';

const ANALYTICS = '2f7c9d34-5f0e-4f0a-8f58-0f6f0b1c2d3e';

test.for(ENGINES)(
  'a stop is previewed, confirmed, approved twice and sent once (%s)',
  async (engine) => {
    const stage = await openStage({ databaseUrl: await freshUrl(engine) });
    const { slack, cloud } = stage;

    const typed = await slack.command(
      ANA,
      'ops',
      '/service stop analytics-prod nightly maintenance',
    );
    expect(typed.error).toBeNull();
    const preview = await stage.privateWord(ANA, 'Stop analytics-prod?');
    expect(textOf(preview ?? { text: '', blocks: [] })).toContain('nightly maintenance');
    expect(slack.messages('db-approvals')).toHaveLength(0);

    await stage.press(ANA, preview, 'change.confirm');
    const card = await stage.card('waiting for approval');
    await stage.press(BEN, card, 'change.approve');
    await stage.card('1 of 2');
    expect(cloud.count('set state')).toBe(0);

    await stage.press(CLEO, card, 'change.approve');
    const ended = await stage.card('Stop analytics-prod: accepted');
    expect(textOf(ended ?? { text: '', blocks: [] })).toContain('stopping');
    expect(buttonsOf(ended ?? { text: '', blocks: [] })).toEqual(['change.undo']);

    expect(cloud.effectCount('set state', ANALYTICS)).toBe(1);
    const request = cloud.requests().find(({ operation }) => operation === 'set state');
    expect(request).toMatchObject({ method: 'PATCH', body: { command: 'stop' }, status: 200 });
    await expect
      .poll(() => slack.messages('db-approvals').filter(({ threadTs }) => threadTs === card?.ts))
      .toHaveLength(1);
  },
);
