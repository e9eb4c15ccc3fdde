import { test } from 'vitest';
import { DORA } from '../harness/users.ts';
import { OPS, openAs, picture, say, startBeforeAll } from './open-page.ts';

startBeforeAll({ priced: true });

test('in a browser: with a price, money is beside the credits', async () => {
  const dora = await openAs(DORA, OPS, 1000);
  await say(dora, '/cost 7d vs prev top 4');
  const title = dora.getByRole('heading', { name: /credits \(€[\d,.]+\) so far/ });
  await title.waitFor();
  await picture(dora, 'cost-money', title);
});
