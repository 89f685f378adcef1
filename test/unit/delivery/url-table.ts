/** URLs of webhooks and what is to be said of each, in numbered rows. */
const http = (...hosts: string[]): string[] => hosts.map((host) => `http://${host}/`);

/** Decided by the text alone, by the policy that stands when nothing is configured. */
export const DENIED: Readonly<Record<string, readonly string[]>> = {
  '1-11': http(
    ...['127.0.0.1', '127.1', '127.0.1', '0', '0x', '2130706433', '017700000001', '0x7f000001'],
    ...['0x7f.0x0.0x0.0x1', '0177.0.0.01', '127.255.255.254', '127.0.0.1.', '2130706433.'],
  ),
  '12-15': http('localhost', 'LOCALHOST.', 'foo.localhost', 'localhost.localdomain'),
  '16-20': http(
    ...['[::1]', '[0:0:0:0:0:0:0:1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:a9fe:a9fe]', '[::FFFF:7F00:1]'],
  ),
  '21-26': http(
    ...['[::127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b::a9fe:a9fe]', '[64:ff9b:1::7f00:1]'],
    ...['[::ffff:0:127.0.0.1]', '[2002:7f00:1::]', '[2001:0:7f00:1::]'],
  ),
  '27-35': http(
    ...['[fe80::1]', '[fe80::1%25eth0]', '[fc00::1]', '[fd00:ec2::254]', '[fec0::1]', '[ff02::1]'],
    ...['[100::1]', '[2001:db8::1]', '[5f00::1]'],
  ),
  '36-41': http(
    ...['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', '100.64.0.1', '100.100.100.200'],
  ),
  '42-48': http(
    ...['169.254.169.254', '0xA9FEA9FE', '2852039166', '0251.0376.0251.0376', '169.254.43518'],
    ...['192.0.0.192', '168.63.129.16'],
  ),
  '49-50': http(
    ...['198.18.0.1', '192.0.2.1', '198.51.100.1', '203.0.113.1', '192.88.99.1'],
    ...['224.0.0.1', '255.255.255.255', '240.0.0.1'],
  ),
  '51-55': http('１２７.０.０.１', '①②⑦.⓪.⓪.①', '127。0。0。1', 'ｌｏｃａｌｈｏｓｔ', '127%2e0%2e0%2e1'),
  '56-59': [
    'http://8.8.8.8@127.0.0.1/',
    'http://a:b@example.com/',
    'http://127.0.0.1#@8.8.8.8/',
    'http://8.8.8.8\\@127.0.0.1/',
    'http:\\\\127.0.0.1\\',
    'http:127.0.0.1/',
    'http:/127.0.0.1/',
    'https:///127.0.0.1/',
  ],
  '60-62': [
    ' http://127.0.0.1/',
    'http://127.0.0.1\t/',
    'http://example.com\r\nX: y/',
    'http://127.0.0.1%00.example.com/',
    'http://127.0.0.1:80%00/',
  ],
  '68-69': http('metadata.google.internal', 'kubernetes.default.svc', 'redis'),
  '73': http(
    ...['example.com:22', 'example.com:25', 'example.com:6379', 'example.com:0', 'example.com:5432'],
  ),
  '74': ['http://example.com:65536/', 'http://256.256.256.256/', 'http://1.1.1.1.1/', 'http://[::1'],
  '75': [
    ...['file:///etc/passwd', 'gopher://127.0.0.1:6379/_x', 'ftp://example.com/', 'data:text/plain,x'],
    ...['javascript:alert(1)', 'blob:https://example.com/x', 'unix:/var/run/docker.sock'],
    ...['http+unix://x/', 'ws://example.com/'],
  ],
  '76': ['//127.0.0.1/', '/internal/truncate', '../x', 'x', ''],
};

/** Hosts that are link-local, or that a translator or tunnel takes to a link-local address. */
export const LINK_LOCAL: readonly string[] = [
  ...['169.254.169.254', '169.254.0.0', '169.254.255.255', '169.254.169.254.', '169.254.43518'],
  ...['0xA9FEA9FE', '2852039166', '0251.0376.0251.0376', '１６９.２５４.１６９.２５４'],
  ...['[fe80::1]', '[febf:ffff::1]', '[::ffff:169.254.169.254]', '[::FFFF:a9fe:a9fe]', '[::169.254.169.254]'],
  ...['[64:ff9b::a9fe:a9fe]', '[64:ff9b:1::a9fe:a9fe]', '[::ffff:0:169.254.169.254]', '[2002:a9fe:a9fe::1]'],
  '[2001:0:7f00:1::5601:5601]',
];

export const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  '38': http('172.32.0.1', '172.15.255.255', '11.0.0.1', '100.63.255.255', '192.169.0.1'),
  '77': http('example.com'),
  '78': ['https://hooks.example.com:8443/x?token=1'],
  '79': ['https://8.8.8.8/', 'https://[2606:4700:4700::1111]/'],
  '80': ['https://xn--nxasmq6b.example/', 'https://bücher.example/', 'HTTPS://EXAMPLE.COM/UPPER'],
};
