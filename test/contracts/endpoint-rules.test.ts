import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

const SHARE =
  'arn:aws:ram:eu-west-1:123456789012:resource-share/11111111-2222-4333-8444-555555555555';
const CLUSTER =
  'arn:aws:kafka:eu-west-1:123456789012:cluster/feed/11111111-2222-4333-8444-555555555555-1';
const SERVICE = 'type=VPC_ENDPOINT_SERVICE service-name=vpce-svc-0a1b2c3d';
const RESOURCE = `type=VPC_RESOURCE resource-configuration=rcfg-0a1b2c3d resource-share=${SHARE}`;
const STREAM = `type=STREAMING_MULTI_VPC cluster=${CLUSTER} authentication=SASL_IAM`;

/** A rule for one field; the form opens with `right` in it, and the tested value replaces it. */
const create = (field: string, words: string, right = ''): Rule => ({
  command: 'endpoint create',
  otherArgs: `staging ${words} ${right}`.trim(),
  typedOtherArgs: `staging ${words}`,
  field,
});

describe('/endpoint create', () => {
  test.for([
    ['vpcEndpointServiceName', 'type=VPC_ENDPOINT_SERVICE', SERVICE],
    ['vpcResourceConfigurationId', `type=VPC_RESOURCE resource-share=${SHARE}`, RESOURCE],
    ['vpcResourceShareArn', 'type=VPC_RESOURCE resource-configuration=rcfg-0a1b2c3d', RESOURCE],
    ['streamClusterArn', 'type=STREAMING_MULTI_VPC authentication=SASL_IAM', STREAM],
    ['streamAuthentication', `type=STREAMING_MULTI_VPC cluster=${CLUSTER}`, STREAM],
  ] as const)('%s is required for its type: %s', async ([field, without, whole]) => {
    const line = `/endpoint create staging description=feed ${without}`;
    const form = await bot.form(line, formOf('endpoint create'));
    expect(linesOf(form.blocks).join('\n')).toContain('Required for these values: ');
    expect(form.blocks.find(({ block_id }) => block_id === field)).toMatchObject({
      optional: false,
    });
    await bot.slack.close(ANA, form.id);
    const { errors } = await answerForm(
      bot,
      'endpoint create',
      `/endpoint create staging description=feed ${whole}`,
      { [field]: '' },
    );
    expect(errors).toEqual({ [field]: 'Please complete this required field.' });
  });

  test.for([
    ['vpcResourceShareArn', SHARE, SERVICE],
    ['vpcEndpointServiceName', 'vpce-svc-0a1b2c3d', RESOURCE],
    ['streamAuthentication', 'SASL_IAM', RESOURCE],
    ['vpcResourceConfigurationId', 'rcfg-0a1b2c3d', STREAM],
  ] as const)('%s=%s is rejected with %s', async ([field, value, words]) => {
    const answers = await answersTo(bot, create(field, `description=feed ${words}`), [value]);
    expect(answers).toContain('does not apply to these values');
    expect(answers).toContain('form:  no such field; taken');
  });
});
