import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Booth, openBooth } from './booth.ts';
import { answerForm } from './forms.ts';
import { type Rule, verdicts } from './verdicts.ts';

let scale: Booth;
let enterprise: Booth;
let basic: Booth;
let open: Booth;
beforeAll(async () => {
  scale = await openBooth();
  enterprise = await openBooth({ of: { tier: 'enterprise' } });
  basic = await openBooth({ of: { tier: 'basic' } });
  open = await openBooth({ file: (file) => ({ ...file, access: { openToTheWorld: 'allowed' } }) });
});
afterAll(async () => {
  for (const booth of [scale, enterprise, basic, open]) await booth.close();
});

const WAREHOUSE = '4e55fb27-7c55-4261-9f95-8d077d2398bc';
const AWS = 'provider=aws region=eu-west-1 ip=10.0.0.0/8';
const create = (field: string, beside = AWS): Rule => ({
  command: 'service create',
  beside: field === 'name' ? beside : `right ${beside}`,
  field,
});
/** For a field that must be there: the form opens with a right value in it. */
const replacing = (field: string, typedBeside: string, right: string): Rule => ({
  ...create(field, `${typedBeside} ${right}`),
  typedBeside: `right ${typedBeside}`,
});
const ADDRESSES = replacing('ipAccessList', 'provider=aws region=eu-west-1', 'ip=10.0.0.0/8');

describe('/service create', () => {
  test('a name has 1 to 50 letters, digits and spaces', async () => {
    const values = ['a', 'a'.repeat(49), 'a'.repeat(50), 'a'.repeat(51), 'a-b', 'größer', '   '];
    expect(await verdicts(scale, create('name'), values)).toMatchInlineSnapshot(`
      "a
        typed: taken
        form:  taken
      a×49
        typed: taken
        form:  taken
      a×50
        typed: taken
        form:  taken
      a×51
        typed: Name must be 1 to 50 letters, digits and spaces (you said a×51)
        form:  [name] must be 1 to 50 letters, digits and spaces
      a-b
        typed: Name must be 1 to 50 letters, digits and spaces (you said a-b)
        form:  [name] must be 1 to 50 letters, digits and spaces
      größer
        typed: Name must be 1 to 50 letters, digits and spaces (you said größer)
        form:  [name] must be 1 to 50 letters, digits and spaces
         
        typed: opens the form
        form:  [name] must be 1 to 50 letters, digits and spaces"
    `);
  });

  test('the provider is one of three', async () => {
    const rule = replacing('provider', 'region=eu-west-1 ip=10.0.0.0/8', 'provider=aws');
    expect(await verdicts(scale, rule, ['aws', 'ibm'])).toMatchInlineSnapshot(`
      "aws
        typed: taken
        form:  taken
      ibm
        typed: provider must be one of aws, gcp, azure (you said ibm)
        form:  not offered; [provider] must be one of aws, gcp, azure"
    `);
  });

  test('the region is one of the provider', async () => {
    const rule = replacing('region', 'provider=gcp ip=10.0.0.0/8', 'region=us-east1');
    const values = ['europe-west4', 'eu-west-1', 'atlantis'];
    expect(await verdicts(scale, rule, values)).toMatchInlineSnapshot(`
      "europe-west4
        typed: taken
        form:  taken
      eu-west-1
        typed: region must be a region of gcp (you said eu-west-1) | /service create right provider=gcp region=eu-west-1 ip=10.0.0.0/8
        form:  not offered; [region] must be a region of gcp
      atlantis
        typed: region must be one of ap-northeast-1, ap-south-1, ap-southeast-1, ap-southeast-2, eu-central-1, eu-west-1, eu-west-2, me-central-1, us-east-1, us-east-2, us-west-2, us-east1, us-central1, europe-west4, asia-southeast1, eastus, eastus2, westus3, germanywestcentral (you said atlantis)
        form:  not offered; [region] must be one of ap-northeast-1, ap-south-1, ap-southeast-1, ap-southeast-2, eu-central-1, eu-west-1, eu-west-2, me-central-1, us-east-1, us-east-2, us-west-2, us-east1, us-central1, europe-west4, asia-southeast1, eastus, eastus2, westus3, germanywestcentral"
    `);
  });

  test('the memory is a multiple of 4 from 8 to 356, and the minimum not above the maximum', async () => {
    const rule = create('maxReplicaMemoryGb', `${AWS} min=16`);
    const values = ['12', '16', '20', '18', '356', '360'];
    expect(await verdicts(scale, rule, values)).toMatchInlineSnapshot(`
      "12
        typed: min must not be above the maximum (12) (you said 16) | /service create right provider=aws region=eu-west-1 ip=10.0.0.0/8 min=16 max=12
        form:  [minReplicaMemoryGb] must not be above the maximum (12)
      16
        typed: taken
        form:  taken
      20
        typed: taken
        form:  taken
      18
        typed: max must be a multiple of 4 from 8 to 356 (you said 18) | [create with 16] [create with 20]
        form:  not offered; [maxReplicaMemoryGb] must be a multiple of 4 from 8 to 356
      356
        typed: taken
        form:  taken
      360
        typed: max must be a multiple of 4 from 8 to 356 (you said 360) | [create with 356]
        form:  not offered; [maxReplicaMemoryGb] must be a multiple of 4 from 8 to 356"
    `);
  });

  test('the first service of a warehouse has 2 to 20 replicas', async () => {
    const values = ['1', '2', '20', '21'];
    expect(await verdicts(scale, create('numReplicas'), values)).toMatchInlineSnapshot(`
      "1
        typed: replicas must be 2 to 20 for the first service of a warehouse (you said 1) | /service create right provider=aws region=eu-west-1 ip=10.0.0.0/8 replicas=1
        form:  [numReplicas] must be 2 to 20 for the first service of a warehouse
      2
        typed: taken
        form:  taken
      20
        typed: taken
        form:  taken
      21
        typed: replicas must be a whole number from 1 to 20 (you said 21)
        form:  [numReplicas] Please enter a number of at most 20."
    `);
  });

  test('in an existing warehouse, and in the tier basic, one replica will do', async () => {
    const inside = create('numReplicas', `${AWS} warehouse=${WAREHOUSE}`);
    expect(await verdicts(scale, inside, ['0', '1'])).toMatchInlineSnapshot(`
      "0
        typed: replicas must be a whole number from 1 to 20 (you said 0)
        form:  [numReplicas] Please enter a number of at least 1.
      1
        typed: taken
        form:  taken"
    `);
    expect(await verdicts(basic, create('numReplicas'), ['0', '1'])).toMatchInlineSnapshot(`
      "0
        typed: replicas must be a whole number from 1 to 20 (you said 0)
        form:  [numReplicas] Please enter a number of at least 1.
      1
        typed: taken
        form:  taken"
    `);
  });

  test('the idle timeout is 5 or more', async () => {
    const values = ['4', '5', '6'];
    expect(await verdicts(scale, create('idleTimeoutMinutes'), values)).toMatchInlineSnapshot(`
      "4
        typed: idle-timeout must be a whole number of minutes, 5 or more (you said 4)
        form:  [idleTimeoutMinutes] Please enter a number of at least 5.
      5
        typed: taken
        form:  taken
      6
        typed: taken
        form:  taken"
    `);
  });

  test('an own cloud region needs both bounds', async () => {
    expect(await scale.said(`/service create right ${AWS} byoc=own-1`)).toMatchInlineSnapshot(`
      [
        "min is required with an own cloud region and must be one of 48, 116, 172, 232",
        "max is required with an own cloud region and must be one of 48, 116, 172, 232",
        "/service create right provider=aws region=eu-west-1 ip=10.0.0.0/8 byoc=own-1",
      ]
    `);
    expect(
      await scale.said(`/service create right ${AWS} byoc=own-1 min=48`),
    ).toMatchInlineSnapshot(`
      [
        "max is required with an own cloud region and must be one of 48, 116, 172, 232",
        "/service create right provider=aws region=eu-west-1 ip=10.0.0.0/8 min=48 byoc=own-1",
      ]
    `);
    const { errors } = await answerForm(
      scale,
      'service create',
      `/service create right ${AWS} byoc=own-1 min=48 max=48`,
      { maxReplicaMemoryGb: '' },
    );
    expect(errors).toMatchInlineSnapshot(`
      {
        "maxReplicaMemoryGb": "is required with an own cloud region and must be one of 48, 116, 172, 232",
      }
    `);
  });

  test('an own cloud region has four sizes', async () => {
    const rule = replacing('minReplicaMemoryGb', `${AWS} byoc=own-1 max=232`, 'min=48');
    const values = ['44', '48', '52', '116', '172', '232', '236'];
    expect(await verdicts(scale, rule, values)).toMatchInlineSnapshot(`
      "44
        typed: min is required with an own cloud region and must be one of 48, 116, 172, 232 (you said 44) | [create with 48] | /service create right provider=aws region=eu-west-1 ip=10.0.0.0/8 min=44 max=232 byoc=own-1
        form:  not offered; [minReplicaMemoryGb] is required with an own cloud region and must be one of 48, 116, 172, 232
      48
        typed: taken
        form:  taken
      52
        typed: min is required with an own cloud region and must be one of 48, 116, 172, 232 (you said 52) | [create with 48] [create with 116] | /service create right provider=aws region=eu-west-1 ip=10.0.0.0/8 min=52 max=232 byoc=own-1
        form:  not offered; [minReplicaMemoryGb] is required with an own cloud region and must be one of 48, 116, 172, 232
      116
        typed: taken
        form:  taken
      172
        typed: taken
        form:  taken
      232
        typed: taken
        form:  taken
      236
        typed: min must not be above the maximum (232) (you said 236) | min is required with an own cloud region and must be one of 48, 116, 172, 232 (you said 236) | [create with 232] | /service create right provider=aws region=eu-west-1 ip=10.0.0.0/8 min=236 max=232 byoc=own-1
        form:  not offered; [minReplicaMemoryGb] is required with an own cloud region and must be one of 48, 116, 172, 232"
    `);
  });

  test('read-only is for a service in an existing warehouse', async () => {
    expect(await verdicts(scale, create('isReadonly'), ['on'])).toMatchInlineSnapshot(`
      "on
        typed: readonly does not apply to what is chosen (you said on)
        form:  no such field; taken"
    `);
    const inside = create('isReadonly', `${AWS} warehouse=${WAREHOUSE}`);
    expect(await verdicts(scale, inside, ['on', 'off'])).toMatchInlineSnapshot(`
      "on
        typed: taken
        form:  taken
      off
        typed: taken
        form:  taken"
    `);
  });

  test.for([
    ['profile', 'v1-default'],
    ['complianceType', 'hipaa'],
    ['hasTransparentDataEncryption', 'on'],
    ['encryptionKey', 'key-1'],
    ['encryptionAssumedRoleIdentifier', 'role-1'],
  ] as const)('%s is for the tier enterprise', async ([field, value]) => {
    const elsewhere = await verdicts(scale, create(field), [value]);
    expect(elsewhere).toMatch(/typed: .*does not apply to what is chosen/);
    expect(elsewhere).toContain('form:  no such field; taken');
    const there = await verdicts(enterprise, create(field), [value]);
    expect(there).toMatch(/typed: taken\n {2}form: {2}taken/);
  });

  test('the values of enterprise are those of the contract', async () => {
    const profiles = await verdicts(enterprise, create('profile'), ['v1-huge']);
    expect(profiles).toMatchInlineSnapshot(`
      "v1-huge
        typed: profile must be one of v1-default, v1-highmem-xs, v1-highmem-s, v1-highmem-m, v1-highmem-l, v1-highmem-xl, v1-highcpu-s, v1-highcpu-m, v1-highcpu-l, v1-highcpu-xl (you said v1-huge)
        form:  not offered; [profile] must be one of v1-default, v1-highmem-xs, v1-highmem-s, v1-highmem-m, v1-highmem-l, v1-highmem-xl, v1-highcpu-s, v1-highcpu-m, v1-highcpu-l, v1-highcpu-xl"
    `);
    const types = await verdicts(enterprise, create('complianceType'), ['hipaa', 'pci', 'gdpr']);
    expect(types).toMatchInlineSnapshot(`
      "hipaa
        typed: taken
        form:  taken
      pci
        typed: taken
        form:  taken
      gdpr
        typed: compliance must be one of hipaa, pci (you said gdpr)
        form:  not offered; [complianceType] must be one of hipaa, pci"
    `);
  });

  test('a release channel is not for the tier basic', async () => {
    const values = ['slow', 'default', 'fast', 'never'];
    expect(await verdicts(scale, create('releaseChannel'), values)).toMatchInlineSnapshot(`
      "slow
        typed: taken
        form:  taken
      default
        typed: taken
        form:  taken
      fast
        typed: taken
        form:  taken
      never
        typed: release-channel must be one of slow, default, fast (you said never)
        form:  not offered; [releaseChannel] must be one of slow, default, fast"
    `);
    expect(await verdicts(basic, create('releaseChannel'), ['slow'])).toMatchInlineSnapshot(`
      "slow
        typed: release-channel does not apply to what is chosen (you said slow)
        form:  no such field; taken"
    `);
  });

  test('a backup is given by its id', async () => {
    const values = ['53837fde-9e4f-4c3d-b63e-8c949cf4822f', 'yesterday'];
    expect(await verdicts(scale, create('backupId'), values)).toMatchInlineSnapshot(`
      "53837fde-9e4f-4c3d-b63e-8c949cf4822f
        typed: taken
        form:  taken
      yesterday
        typed: backup must be the id of a backup, from the console (you said yesterday)
        form:  [backupId] must be the id of a backup, from the console"
    `);
  });

  test('protocols are switched on or off, one a line', async () => {
    const values = ['mysql on', 'mysql', 'mysql maybe'];
    expect(await verdicts(scale, create('endpoints'), values)).toMatchInlineSnapshot(`
      "mysql on
        typed: taken
        form:  taken
      mysql
        typed: endpoints must be lines such as “mysql on” (you said mysql)
        form:  [endpoints] must be lines such as “mysql on”
      mysql maybe
        typed: endpoints must be lines such as “mysql on” (you said mysql maybe)
        form:  [endpoints] must be lines such as “mysql on”"
    `);
  });

  test('at least one address may connect, and each is one', async () => {
    const values = [',', '10.0.0.0/8', '10.0.0.0/33', '10.0.0.300', '2001:db8::/32', 'office'];
    expect(await verdicts(scale, ADDRESSES, values)).toMatchInlineSnapshot(`
      ",
        typed: ip must name at least one address, such as 10.0.0.0/8 (you said ,)
        form:  [ipAccessList] must name at least one address, such as 10.0.0.0/8
      10.0.0.0/8
        typed: taken
        form:  taken
      10.0.0.0/33
        typed: ip must hold addresses such as 10.0.0.0/8, one a line (you said 10.0.0.0/33)
        form:  [ipAccessList] must hold addresses such as 10.0.0.0/8, one a line
      10.0.0.300
        typed: ip must hold addresses such as 10.0.0.0/8, one a line (you said 10.0.0.300)
        form:  [ipAccessList] must hold addresses such as 10.0.0.0/8, one a line
      2001:db8::/32
        typed: taken
        form:  taken
      office
        typed: ip must hold addresses such as 10.0.0.0/8, one a line (you said office)
        form:  [ipAccessList] must hold addresses such as 10.0.0.0/8, one a line"
    `);
  });

  test('an address list has at most 100 addresses', async () => {
    const list = (count: number) =>
      Array.from({ length: count }, (_, index) => `10.0.0.${index}/32`).join(',');
    expect(await verdicts(scale, ADDRESSES, [list(100)])).toMatch(/typed: taken\n +form: +taken/);
    const more = await verdicts(scale, ADDRESSES, [list(101)]);
    expect(more).toContain('typed: ip may hold 100 addresses');
    expect(more).toContain('form:  [ipAccessList] may hold 100 addresses');
  });

  test('the whole world may not connect, unless the configuration allows it', async () => {
    const values = ['0.0.0.0/0', '::/0', '10.0.0.0/8,0.0.0.0/0', '0.0.0.0/1'];
    expect(await verdicts(scale, ADDRESSES, values)).toMatchInlineSnapshot(`
      "0.0.0.0/0
        typed: ip must not open the service to the whole world (0.0.0.0/0) (you said 0.0.0.0/0) | /service create right provider=aws region=eu-west-1 ip=0.0.0.0/0
        form:  [ipAccessList] must not open the service to the whole world (0.0.0.0/0)
      ::/0
        typed: ip must not open the service to the whole world (::/0) (you said ::/0) | /service create right provider=aws region=eu-west-1 ip=::/0
        form:  [ipAccessList] must not open the service to the whole world (::/0)
      10.0.0.0/8,0.0.0.0/0
        typed: ip must not open the service to the whole world (0.0.0.0/0) (you said 10.0.0.0/8,0.0.0.0/0) | /service create right provider=aws region=eu-west-1 ip=10.0.0.0/8,0.0.0.0/0
        form:  [ipAccessList] must not open the service to the whole world (0.0.0.0/0)
      0.0.0.0/1
        typed: taken
        form:  taken"
    `);
    expect(await verdicts(open, ADDRESSES, ['0.0.0.0/0'])).toMatch(/typed: taken\n +form: +taken/);
    expect(
      await open.said('/service create right provider=aws region=eu-west-1 ip=0.0.0.0/0'),
    ).toContain('! Every address in the world may connect.');
  });
});
