import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ANA } from '../harness/users.ts';
import { type ContractBot, openContractBot } from './contract-bot.ts';
import { AWS, create, replacing } from './creations.ts';
import { answerForm, formOf } from './forms.ts';
import { linesOf } from './message-lines.ts';
import { answersTo } from './rule-answers.ts';

let scale: ContractBot;
let basic: ContractBot;
beforeAll(async () => {
  scale = await openContractBot();
  basic = await openContractBot({ of: { tier: 'basic' } });
});
afterAll(async () => {
  for (const bot of [scale, basic]) await bot.close();
});

const WAREHOUSE = '4e55fb27-7c55-4261-9f95-8d077d2398bc';

describe('/service create', () => {
  test('a name may have hyphens', async () => {
    expect(await answersTo(scale, create('name'), ['a-b'])).toBe('a-b: taken');
  });

  test('the region must belong to the provider', async () => {
    const rule = replacing('region', 'provider=gcp ip=10.0.0.0/8', 'region=us-east1');
    const values = ['europe-west4', 'europe-west2', 'eu-west-1'];
    expect(await answersTo(scale, rule, values)).toMatchInlineSnapshot(`
      "europe-west4: taken
      europe-west2
        typed: taken
        form:  not offered; taken
      eu-west-1
        typed: opens the form: region must be a region of gcp, not eu-west-1
        form:  not offered; [region] Region must be a region of gcp, not eu-west-1."
    `);
  });

  test('the form keeps a typed region that only live servers have', async () => {
    const line = '/service create right provider=gcp region=europe-west2 ip=10.0.0.0/8';
    const view = await scale.openEditForm(line, formOf('service create'));
    expect(linesOf(view.blocks)).toContain('Region  [europe-west2]');
    const answer = await scale.submit(view.id, {});
    expect(answer.lines).toContain(
      '⚠ The region “europe-west2” is not in the contract of the API; live servers accept it.',
    );
  });

  test('the first service of a warehouse has 1 to 20 replicas, in the basic tier as well', async () => {
    const answers = await answersTo(scale, create('numReplicas'), ['1', '20']);
    expect(answers).toBe('1, 20: taken');
    expect(await answersTo(basic, create('numReplicas'), ['1'])).toBe('1: taken');
  });

  /** The problem above the fields of the form that opens for correction. */
  async function formProblem(words: string): Promise<string> {
    const view = await scale.form(`/service create right ${words}`, formOf('service create'));
    await scale.slack.close(ANA, view.id);
    return linesOf(view.blocks.slice(0, 1)).join('\n');
  }

  test('an own cloud region requires both memory bounds', async () => {
    expect(await formProblem(`${AWS} byoc=own-1`)).toMatchInlineSnapshot(
      `"Required for these values: Minimum memory per replica (GB), Maximum memory per replica (GB)."`,
    );
    expect(await formProblem(`${AWS} byoc=own-1 min=48`)).toMatchInlineSnapshot(
      `"Required for these values: Maximum memory per replica (GB)."`,
    );
    const { errors } = await answerForm(
      scale,
      'service create',
      `/service create right ${AWS} byoc=own-1 min=48 max=48`,
      { maxReplicaMemoryGb: '' },
    );
    expect(errors).toMatchInlineSnapshot(`
      {
        "maxReplicaMemoryGb": "Please complete this required field.",
      }
    `);
  });

  test('an own cloud region has four memory sizes', async () => {
    const rule = replacing('minReplicaMemoryGb', `${AWS} byoc=own-1 max=232`, 'min=48');
    const values = ['48', '52', '116', '172', '232', '236'];
    expect(await answersTo(scale, rule, values)).toMatchInlineSnapshot(`
      "48: taken
      52
        typed: min is required with an own cloud region and must be one of 48, 116, 172, 232 (you typed 52): | [min=48] [min=116]
        form:  not offered; [minReplicaMemoryGb] Minimum memory per replica (GB) is required with an own cloud region and must be one of 48, 116, 172, 232 (you typed 52): 48 or 116.
      116, 172, 232: taken
      236
        typed: min must not be above the maximum, 232 (you typed 236) | min is required with an own cloud region and must be one of 48, 116, 172, 232 (you typed 236) | [min=232]
        form:  not offered; [minReplicaMemoryGb] Minimum memory per replica (GB) must not be above the maximum, 232 (you typed 236): 232."
    `);
  });

  test('what is deprecated is read after its key only, not in the words of a reason', async () => {
    const preview = await scale.type(`/service create right ${AWS} production`);
    expect(scale.linesIn(preview).join('\n')).not.toMatch(/eprecated/);
    const old = await scale.run(`/service create right ${AWS} tier=production`);
    expect(old).toContain('⚠ Deprecated, though the API still accepts it: tier.');
    const form = await scale.form(`/service create`, formOf('service create'));
    await scale.slack.close(ANA, form.id);
    expect(linesOf(form.blocks).join('\n')).not.toMatch(/eprecated/);
  });

  test('read-only requires an existing warehouse', async () => {
    expect(await answersTo(scale, create('isReadonly'), ['on'])).toMatchInlineSnapshot(`
      "on
        typed: readonly does not apply to these values (you typed on) | [Remove it]
        form:  no such field; taken"
    `);
    const inside = create('isReadonly', `${AWS} warehouse=${WAREHOUSE}`);
    expect(await answersTo(scale, inside, ['on', 'off'])).toMatchInlineSnapshot(`"on, off: taken"`);
  });
});
