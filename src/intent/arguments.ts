import { z } from 'zod';

/** How a field is typed, labelled and looked up; kept in zod's registry beside its schema. */
export interface FieldMeta {
  readonly label?: string;
  /** The key of `key=value`; a field without one is given by its place in the line. */
  readonly word?: string;
  readonly names?: 'service';
}

export interface Field extends FieldMeta {
  readonly name: string;
  readonly label: string;
  readonly optional: boolean;
}

export const ServiceName = z.string().min(1).meta({ label: 'Service', names: 'service' });

/** The fields of a command in the order of its schema, with what the registry knows of each. */
export function fieldsOf(args: z.ZodObject): readonly Field[] {
  return Object.entries(args.shape).map(([name, schema]) => {
    // zod types its registry's entries loosely; every field of ours is described by FieldMeta.
    const meta = (schema.meta() ?? {}) as FieldMeta;
    return {
      ...meta,
      name,
      label: meta.label ?? name,
      optional: schema.safeParse(undefined).success,
    };
  });
}

export function isPlaced(field: Field): boolean {
  return field.word === undefined;
}
