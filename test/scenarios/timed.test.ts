import { expect, test } from 'vitest';
import { ENGINES, freshUrl } from '../storage/engines.ts';
import { ask, empty, STAGING } from './asking.ts';
import { approved, goTo, idOf, saysCard, threadOf } from './hours.ts';
import { ANA, BEN, buttonsOf, openStage, textOf } from './stage.ts';

const sent = (stage: { cloud: { count: (operation: string) => number } }) =>
  stage.cloud.count('set state');

test.for(ENGINES)(
  'a stop for four hours starts again by itself, over a restart (%s)',
  async (engine) => {
    const stage = await openStage({ databaseUrl: await freshUrl(engine) });
    await approved(stage, '/service stop staging for=4h cleaning up');
    await stage.card('Stop staging: accepted');
    const planned = await stage.card('Start staging: planned');
    await saysCard(stage, 'Stop staging: accepted', `(${idOf(planned)})`);
    expect(sent(stage)).toBe(1);
    await stage.restart();
    goTo(stage, '15:59');
    await stage.restart();
    expect(sent(stage)).toBe(1);
    goTo(stage, '16:00');
    const back = await stage.card('Start staging: accepted');
    await saysCard(stage, 'Stop staging: accepted', `by ${idOf(back)}`);
    expect(
      stage.cloud
        .requests()
        .filter(({ operation }) => operation === 'set state')
        .map(({ body }) => body),
    ).toEqual([{ command: 'stop' }, { command: 'start' }]);
  },
);
