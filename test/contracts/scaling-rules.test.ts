import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ContractBot, openContractBot } from './contract-bot.ts';
import { answersTo, type Rule } from './rule-answers.ts';

let paid: ContractBot;
let free: ContractBot;
beforeAll(async () => {
  paid = await openContractBot();
  free = await openContractBot({ of: { plan: 'free' } });
});
afterAll(async () => {
  await paid.close();
  await free.close();
});

const scale = (field: string, otherArgs = ''): Rule => ({
  command: 'service scale',
  otherArgs: `staging ${otherArgs}`.trim(),
  field,
});

describe('/service scale', () => {
  test('the maximum memory is a multiple of 4 from 8 to 356', async () => {
    const rule = scale('maxReplicaMemoryGb', 'min=8');
    expect(await answersTo(paid, rule, ['30', 'lots'])).toMatchInlineSnapshot(`
      "30
        typed: max must be a multiple of 4 from 8 to 356, not 30: | [max=28] [max=32]
        form:  not offered; [maxReplicaMemoryGb] Maximum memory per replica (GB) must be a multiple of 4 from 8 to 356, not 30: 28 or 32.
      lots
        typed: opens the form: max must be a multiple of 4 from 8 to 356, not lots:
        form:  not offered; [maxReplicaMemoryGb] Maximum memory per replica (GB) must be a multiple of 4 from 8 to 356, not lots."
    `);
  });

  test('the memory of an organization on the free plan is at most 120', async () => {
    const rule = scale('maxReplicaMemoryGb', 'min=8');
    expect(await answersTo(free, rule, ['116', '120', '124'])).toMatchInlineSnapshot(`
      "116, 120: taken
      124
        typed: max must be at most 120 for an organization on the free plan, not 124: | [max=120]
        form:  not offered; [maxReplicaMemoryGb] Maximum memory per replica (GB) must be at most 120 for an organization on the free plan, not 124: 120."
    `);
    expect(
      await answersTo(free, scale('minReplicaMemoryGb'), ['120', '124']),
    ).toMatchInlineSnapshot(`
      "120: taken
      124
        typed: min must be at most 120 for an organization on the free plan, not 124: | [min=120]
        form:  not offered; [minReplicaMemoryGb] Minimum memory per replica (GB) must be at most 120 for an organization on the free plan, not 124: 120."
    `);
  });

  test('the minimum is at most the maximum', async () => {
    const rule = scale('minReplicaMemoryGb', 'max=64');
    expect(await answersTo(paid, rule, ['60', '64', '68'])).toMatchInlineSnapshot(`
      "60, 64: taken
      68
        typed: min must not be above the maximum, 64 (you typed 68): | [min=64 max=68]
        form:  [minReplicaMemoryGb] Minimum memory per replica (GB) must not be above the maximum, 64 (you typed 68)."
    `);
  });

  test('an idle timeout requires idling', async () => {
    const rule = scale('idleTimeoutMinutes', 'idle=off');
    expect(await answersTo(paid, rule, ['15'])).toMatchInlineSnapshot(`
      "15
        typed: idle-timeout does not apply to these values (you typed 15) | [Remove it]
        form:  no such field; taken"
    `);
    const without = scale('idleTimeoutMinutes');
    expect(await answersTo(paid, without, ['15'])).toMatchInlineSnapshot(`"15: taken"`);
  });

  test('at least one field must be set', async () => {
    const emptied = { ...scale('numReplicas', 'replicas=3') };
    expect(await answersTo(paid, emptied, [''])).toMatchInlineSnapshot(`
      "(empty)
        typed: “replicas=” is given twice. | [replicas=3]
        form:  [minReplicaMemoryGb] Minimum memory per replica (GB) is missing: set at least one field to change."
    `);
  });

  test('of two values of a key one is chosen, and a key belongs to the command', async () => {
    expect(await paid.run('/service scale staging min=8 min=16')).toEqual([
      '“min=” is given twice.',
      '[min=8] [min=16]',
      '/service scale staging min=8 min=16',
    ]);
    expect(await paid.run('/service scale staging memory=8')).toEqual([
      '/service scale has no key “memory=”. Did you mean max or min? Keys: min, max, replicas, idle, idle-timeout, at, in, for, until.',
      '[max=8] [min=8] [It is only the reason]',
      '/service scale staging memory=8',
    ]);
  });

  test('a single bound is checked against the other one as last seen', async () => {
    const preview = await paid.type('/service scale archive min=16 max=32');
    await paid.confirm(preview);
    const rule = { ...scale('minReplicaMemoryGb'), otherArgs: 'archive' };
    expect(await answersTo(paid, rule, ['28', '32', '36'])).toMatchInlineSnapshot(`
      "28, 32: taken
      36
        typed: opens the form: min does not fit the maximum last seen (32): set both (you typed 36)
        form:  opens again: min does not fit the maximum last seen (32): set both (you typed 36)"
    `);
  });
});
