import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitUntilIdle } from '../harness/requests.ts';
import { ANA } from '../harness/users.ts';
import { type ContractBot, openContractBot } from './contract-bot.ts';
import { answerForm, formOf } from './forms.ts';
import { linesOf } from './message-lines.ts';
import { answersTo, type Rule } from './rule-answers.ts';

let bot: ContractBot;
beforeAll(async () => {
  bot = await openContractBot();
});
afterAll(() => bot.close());

const SERVICE = 'type=VPC_ENDPOINT_SERVICE service-name=vpce-1';
const RESOURCE = 'type=VPC_RESOURCE resource-configuration=rcfg-1 resource-share=arn:share';
const STREAM = 'type=STREAMING_MULTI_VPC cluster=arn:cluster authentication=SASL_IAM';

/** A rule for one field; the form opens with `right` in it, and the tested value replaces it. */
const create = (field: string, words: string, right = ''): Rule => ({
  command: 'endpoint create',
  otherArgs: `staging ${words} ${right}`.trim(),
  typedOtherArgs: `staging ${words}`,
  field,
});

describe('/endpoint create', () => {
  test('a description has at most 255 characters', async () => {
    // The usage report of the start waits for the request budget, which moves the clock of all reads.
    await waitUntilIdle(bot);
    const rule = create('description', SERVICE, 'description=feed');
    const values = ['a', 'a'.repeat(254), 'a'.repeat(255), 'a'.repeat(256)];
    expect(await answersTo(bot, rule, values)).toMatchInlineSnapshot(`
      "a, a×254, a×255: taken
      a×256
        typed: description must be a text of at most 255 characters, not a×59…
        form:  [description] Description must be a text of at most 255 characters, not a×59…."
    `);
  });

  test('the type is one of three', async () => {
    const rule = create('type', 'description=feed service-name=vpce-1', SERVICE.slice(0, 25));
    expect(
      await answersTo(bot, rule, ['vpc', 'GCP_PSC_SERVICE_ATTACHMENT']),
    ).toMatchInlineSnapshot(`
      "vpc
        typed: type must be one of VPC endpoint service, VPC resource, streaming from several VPCs, not vpc: | [type=VPC endpoint service]
        form:  not offered; [type] Type must be one of VPC endpoint service, VPC resource, streaming from several VPCs, not vpc: VPC endpoint service, VPC resource or streaming from several VPCs.
      GCP_PSC_SERVICE_ATTACHMENT
        typed: type must be one of VPC endpoint service, VPC resource, streaming from several VPCs, not GCP_PSC_SERVICE_ATTACHMENT
        form:  not offered; [type] Type must be one of VPC endpoint service, VPC resource, streaming from several VPCs, not GCP_PSC_SERVICE_ATTACHMENT."
    `);
  });

  test.for([
    ['vpcEndpointServiceName', 'type=VPC_ENDPOINT_SERVICE', SERVICE],
    ['vpcResourceConfigurationId', 'type=VPC_RESOURCE resource-share=arn:share', RESOURCE],
    ['vpcResourceShareArn', 'type=VPC_RESOURCE resource-configuration=rcfg-1', RESOURCE],
    ['streamClusterArn', 'type=STREAMING_MULTI_VPC authentication=SASL_IAM', STREAM],
    ['streamAuthentication', 'type=STREAMING_MULTI_VPC cluster=arn:cluster', STREAM],
  ] as const)('%s is required for its type: %s', async ([field, without, whole]) => {
    const type = /type=(\S+)/.exec(whole)?.[1];
    const line = `/endpoint create staging description=feed ${without}`;
    const form = await bot.form(line, formOf('endpoint create'));
    const problem = linesOf(form.blocks).join('\n');
    expect(problem).toMatch(new RegExp(`[a-z-]+ is required when type is ${type}`));
    await bot.slack.close(ANA, form.id);
    const { errors } = await answerForm(
      bot,
      'endpoint create',
      `/endpoint create staging description=feed ${whole}`,
      { [field]: '' },
    );
    const sentence = new RegExp(`^[A-Z][^.]+ is required when type is ${type}\\.$`);
    expect(errors).toEqual({ [field]: expect.stringMatching(sentence) });
  });

  test.for([
    ['vpcResourceShareArn', 'arn:share', SERVICE],
    ['vpcEndpointServiceName', 'vpce-1', RESOURCE],
    ['streamAuthentication', 'SASL_IAM', RESOURCE],
    ['vpcResourceConfigurationId', 'rcfg-1', STREAM],
  ] as const)('%s=%s is rejected with %s', async ([field, value, words]) => {
    const answers = await answersTo(bot, create(field, `description=feed ${words}`), [value]);
    expect(answers).toContain('does not apply to these values');
    expect(answers).toContain('form:  no such field; taken');
  });

  test('the authentication is one of two', async () => {
    const words = 'description=feed type=STREAMING_MULTI_VPC cluster=arn:cluster';
    const rule = create('streamAuthentication', words, 'authentication=SASL_IAM');
    const values = ['SASL_IAM', 'SASL_SCRAM', 'NONE'];
    expect(await answersTo(bot, rule, values)).toMatchInlineSnapshot(`
      "SASL_IAM, SASL_SCRAM: taken
      NONE
        typed: authentication must be one of SASL with IAM, SASL with SCRAM, not NONE
        form:  not offered; [streamAuthentication] Authentication must be one of SASL with IAM, SASL with SCRAM, not NONE."
    `);
  });
});
