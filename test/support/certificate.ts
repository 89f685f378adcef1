/** Certificates for TLS receivers, written byte by byte: nothing else on this machine has to be there for it. */
import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';

export interface Certified {
  readonly privateKey: KeyObject;
  /** PEM. */
  readonly key: string;
  readonly cert: string;
  readonly subject: string;
}

export interface CertificateOptions {
  /** The name that it is for, and its subject. */
  readonly name: string;
  /** Who signs it; itself by default. */
  readonly by?: Certified;
  readonly authority?: boolean;
  readonly from?: Date;
  readonly to?: Date;
}

const DAY_MS = 86_400_000;

const der = (tag: number, ...parts: Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
};
const sequence = (...parts: Uint8Array[]): Buffer => der(0x30, ...parts);
const oid = (...bytes: number[]): Buffer => der(0x06, Buffer.from(bytes));
const text = (tag: number, value: string): Buffer => der(tag, Buffer.from(value));

const ECDSA_SHA256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const nameOf = (name: string): Buffer =>
  sequence(der(0x31, sequence(oid(0x55, 0x04, 0x03), text(0x0c, name))));
const timeOf = (date: Date): Buffer =>
  text(0x18, `${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`);
const extension = (id: number, value: Buffer): Buffer => sequence(oid(0x55, 0x1d, id), der(0x04, value));

/** A certificate of X.509 version 3 with a key of its own. */
export function certify({
  name,
  by,
  authority = false,
  from = new Date(Date.now() - DAY_MS),
  to = new Date(Date.now() + DAY_MS),
}: CertificateOptions): Certified {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const address = /^(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(name);
  const alternative = address ? der(0x87, Buffer.from(address.slice(1).map(Number))) : text(0x82, name);
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1, ...crypto.getRandomValues(new Uint8Array(8))])),
    ECDSA_SHA256,
    nameOf(by?.subject ?? name),
    sequence(timeOf(from), timeOf(to)),
    nameOf(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(
        extension(0x13, authority ? sequence(der(0x01, Buffer.from([0xff]))) : sequence()),
        extension(0x11, sequence(alternative)),
      ),
    ),
  );
  const signature = sign('sha256', content, by?.privateKey ?? privateKey);
  const whole = sequence(content, ECDSA_SHA256, der(0x03, Buffer.from([0]), signature));
  const lines = whole
    .toString('base64')
    .match(/.{1,64}/g)!
    .join('\n');
  return {
    ...{ privateKey, subject: name },
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}
