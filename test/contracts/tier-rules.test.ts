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

  test('the values of the enterprise fields are those of the contract', async () => {
    const profiles = await answersTo(enterprise, create('profile'), ['v1-huge']);
    expect(profiles).toMatchInlineSnapshot(`
      "v1-huge
        typed: opens the form: profile must be one of v1-default, v1-highmem-xs, v1-highmem-s, v1-highmem-m, v1-highmem-l, v1-highmem-xl, v1-highcpu-s, v1-highcpu-m, v1-highcpu-l, v1-highcpu-xl, not v1-huge
        form:  not offered; [profile] Profile must be one of v1-default, v1-highmem-xs, v1-highmem-s, v1-highmem-m, v1-highmem-l, v1-highmem-xl, v1-highcpu-s, v1-highcpu-m, v1-highcpu-l, v1-highcpu-xl, not v1-huge."
    `);
    const types = await answersTo(enterprise, create('complianceType'), ['hipaa', 'pci', 'gdpr']);
    expect(types).toMatchInlineSnapshot(`
      "hipaa, pci: taken
      gdpr
        typed: opens the form: compliance must be one of hipaa, pci, not gdpr
        form:  not offered; [complianceType] Compliance must be one of hipaa, pci, not gdpr."
    `);
  });

  test('a release channel is one of three', async () => {
    const values = ['slow', 'default', 'fast', 'never'];
    expect(await answersTo(scale, create('releaseChannel'), values)).toMatchInlineSnapshot(`
      "slow, default, fast: taken
      never
        typed: opens the form: release-channel must be one of slow, default, fast, not never
        form:  not offered; [releaseChannel] Release channel must be one of slow, default, fast, not never."
    `);
  });
});
