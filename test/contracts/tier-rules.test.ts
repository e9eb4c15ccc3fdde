import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ContractBot, openContractBot } from './contract-bot.ts';
import { create } from './creations.ts';
import { answersTo } from './rule-answers.ts';

let scale: ContractBot;
let enterprise: ContractBot;
let basic: ContractBot;
beforeAll(async () => {
  scale = await openContractBot();
  enterprise = await openContractBot({ of: { tier: 'enterprise' } });
  basic = await openContractBot({ of: { tier: 'basic' } });
});
afterAll(async () => {
  for (const bot of [scale, enterprise, basic]) await bot.close();
});

describe('/service create', () => {
  test.for([
    ['profile', 'v1-default'],
    ['hasTransparentDataEncryption', 'on'],
  ] as const)('%s requires the enterprise tier', async ([field, value]) => {
    const elsewhere = await answersTo(scale, create(field), [value]);
    expect(elsewhere).toMatch(/typed: .*does not apply to these values/);
    expect(elsewhere).toContain('form:  no such field; taken');
    const there = await answersTo(enterprise, create(field), [value]);
    expect(there).toBe(`${value}: taken`);
  });

  test.for([
    ['complianceType', 'hipaa'],
    ['encryptionKey', 'key-1'],
    ['encryptionAssumedRoleIdentifier', 'role-1'],
    ['releaseChannel', 'slow'],
  ] as const)('%s is available in every tier, as in the contract', async ([field, value]) => {
    for (const bot of [basic, scale, enterprise]) {
      expect(await answersTo(bot, create(field), [value])).toBe(`${value}: taken`);
    }
  });
});
