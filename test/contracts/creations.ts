import type { Rule } from './verdicts.ts';

export const AWS = 'provider=aws region=eu-west-1 ip=10.0.0.0/8';

/** One field of a new service whose other fields are right. */
export const create = (field: string, beside = AWS): Rule => ({
  command: 'service create',
  beside: field === 'name' ? beside : `right ${beside}`,
  field,
});

/** For a field that must be there: the form opens with a right value in it. */
export const replacing = (field: string, typedBeside: string, right: string): Rule => ({
  ...create(field, `${typedBeside} ${right}`),
  typedBeside: `right ${typedBeside}`,
});
