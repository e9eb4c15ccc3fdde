/** As much of the wire format of protobuf as is needed to read what a bot exports. */
export type Field = bigint | Buffer;
export type Fields = ReadonlyMap<number, readonly Field[]>;

const VARINT = 0;
const FIXED_64 = 1;
const BYTES = 2;

/** The fields of one message by their numbers. */
export function fieldsOf(message: Buffer): Fields {
  const fields = new Map<number, Field[]>();
  let at = 0;
  const varint = (): bigint => {
    for (let value = 0n, shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const bytes = (length: number): Buffer => {
    at += length;
    return message.subarray(at - length, at);
  };
  const value = (type: number): Field => {
    if (type === VARINT) return varint();
    if (type === BYTES) return bytes(Number(varint()));
    return bytes(type === FIXED_64 ? 8 : 4);
  };
  while (at < message.length) {
    const tag = Number(varint());
    const number = tag >> 3;
    fields.set(number, [...(fields.get(number) ?? []), value(tag & 7)]);
  }
  return fields;
}

/** The messages in a field that may be there several times. */
export function messagesIn(fields: Fields, number: number): readonly Fields[] {
  return bytesIn(fields, number).map(fieldsOf);
}

export function bytesIn(fields: Fields, number: number): readonly Buffer[] {
  return (fields.get(number) ?? []).filter((field) => typeof field !== 'bigint');
}

export function textIn(fields: Fields, number: number): string {
  return bytesIn(fields, number)[0]?.toString() ?? '';
}

export function hexIn(fields: Fields, number: number): string {
  return bytesIn(fields, number)[0]?.toString('hex') ?? '';
}

export function numberIn(fields: Fields, number: number): number {
  return Number(fields.get(number)?.[0] ?? 0);
}
