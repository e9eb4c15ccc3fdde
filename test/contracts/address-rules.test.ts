import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ContractBot, openContractBot } from './contract-bot.ts';
import { replacing } from './creations.ts';
import { answersTo } from './rule-answers.ts';

let scale: ContractBot;
let open: ContractBot;
beforeAll(async () => {
  scale = await openContractBot();
  open = await openContractBot({
    file: (file) => ({ ...file, access: { openToTheWorld: 'allowed' } }),
  });
});
afterAll(async () => {
  for (const bot of [scale, open]) await bot.close();
});

const ADDRESSES = replacing('ipAccessList', 'provider=aws region=eu-west-1', 'ip=10.0.0.0/8');

describe('/service create', () => {
  test('at least one address is required', async () => {
    expect(await answersTo(scale, ADDRESSES, [','])).toMatchInlineSnapshot(`
      ",
        typed: opens the form: Name  [right]  (Letters, digits and spaces)
        form:  [ipAccessList] Allowed addresses needs at least one address, for example 10.0.0.0/8 (you typed ,)."
    `);
  });

  test('an address list has at most 100 addresses', async () => {
    const list = (count: number) =>
      Array.from({ length: count }, (_, index) => `10.0.0.${index}/32`).join(',');
    expect(await answersTo(scale, ADDRESSES, [list(100)])).toMatch(/: taken$/);
    const more = await answersTo(scale, ADDRESSES, [list(101)]);
    expect(more).toContain('typed: opens the form: ip can have at most 100 addresses');
    expect(more).toMatch(/form: {2}\[ipAccessList\] [A-Z].* can have at most 100 addresses/);
  });

  test('addresses that open the service to the internet need a configuration setting', async () => {
    const values = ['::/0', '10.0.0.0/8,0.0.0.0/0', '0.0.0.0/1'];
    expect(await answersTo(scale, ADDRESSES, values)).toMatchInlineSnapshot(`
      "::/0
        typed: opens the form: ip must not allow all addresses, or a large part of them, (::/0) (you typed ::/0)
        form:  [ipAccessList] Allowed addresses must not allow all addresses, or a large part of them, (::/0) (you typed ::/0).
      10.0.0.0/8,0.0.0.0/0
        typed: opens the form: ip must not allow all addresses, or a large part of them, (0.0.0.0/0) (you typed 10.0.0.0/8,0.0.0.0/0)
        form:  [ipAccessList] Allowed addresses must not allow all addresses, or a large part of them, (0.0.0.0/0) (you typed 10.0.0.0/8,0.0.0.0/0).
      0.0.0.0/1
        typed: opens the form: ip must not allow all addresses, or a large part of them, (0.0.0.0/1) (you typed 0.0.0.0/1)
        form:  [ipAccessList] Allowed addresses must not allow all addresses, or a large part of them, (0.0.0.0/1) (you typed 0.0.0.0/1)."
    `);
    expect(await answersTo(open, ADDRESSES, ['0.0.0.0/0'])).toMatch(/: taken$/);
    expect(
      await open.run('/service create right provider=aws region=eu-west-1 ip=0.0.0.0/0'),
    ).toContain('⚠ All addresses, or a large part of them, may connect.');
  });
});
