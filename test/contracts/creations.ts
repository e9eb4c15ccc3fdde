import type { Rule } from './rule-answers.ts';

export const AWS = 'provider=aws region=eu-west-1 ip=10.0.0.0/8';

/** A rule for one field of a new service whose other fields are valid. */
export const create = (field: string, otherArgs = AWS): Rule => ({
  command: 'service create',
  otherArgs: field === 'name' ? otherArgs : `right ${otherArgs}`,
  field,
});

/** A rule for a required field: the form opens with a valid value in it. */
export const replacing = (field: string, typedOtherArgs: string, right: string): Rule => ({
  ...create(field, `${typedOtherArgs} ${right}`),
  typedOtherArgs: `right ${typedOtherArgs}`,
});
