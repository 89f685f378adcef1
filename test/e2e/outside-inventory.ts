/**
 * The exports of Node's network, process and file modules. Closed ones reach outside of a run and are refused in a
 * re-execution. `internal` ones are Node's own, which no permission and no patch closes; graph code does not attack.
 */
export interface Exports {
  readonly closed?: string;
  readonly harmless?: string;
  /** Reaches nothing without what the note names. */
  readonly why?: Readonly<Record<string, string>>;
}

const RECORDS =
  'NODATA FORMERR SERVFAIL NOTFOUND NOTIMP REFUSED BADQUERY BADNAME BADFAMILY BADRESP CONNREFUSED TIMEOUT EOF FILE NOMEM DESTRUCTION BADSTR BADFLAGS NONAME BADHINTS NOTINITIALIZED LOADIPHLPAPI ADDRGETNETWORKPARAMS CANCELLED';
const LOOKUPS =
  'Resolver lookup lookupService resolve resolve4 resolve6 resolveAny resolveCaa resolveCname resolveMx resolveNaptr resolveNs resolvePtr resolveSoa resolveSrv resolveTlsa resolveTxt reverse';
const RESOLVERS = 'getDefaultResultOrder getServers setDefaultResultOrder setServers';
const both = (names: string): string => names.replaceAll(/\S+/g, '$& $&Sync');

// prettier-ignore
export const INVENTORY: Readonly<Record<string, Exports>> = {
  net: { closed: 'BoundSocket Server Socket Stream _createServerHandle connect createConnection createServer', harmless: 'BlockList SocketAddress _normalizeArgs getDefaultAutoSelectFamily getDefaultAutoSelectFamilyAttemptTimeout isIP isIPv4 isIPv6 setDefaultAutoSelectFamily setDefaultAutoSelectFamilyAttemptTimeout' },
  tls: { closed: 'Server TLSSocket connect createServer', harmless: 'CLIENT_RENEG_LIMIT CLIENT_RENEG_WINDOW DEFAULT_CIPHERS DEFAULT_ECDH_CURVE DEFAULT_MAX_VERSION DEFAULT_MIN_VERSION SecureContext checkServerIdentity convertALPNProtocols createSecureContext getCACertificates getCertificateCompressionAlgorithms getCiphers rootCertificates setDefaultCACertificates' },
  dgram: { closed: 'Socket _createSocketHandle createSocket' },
  dns: { closed: LOOKUPS, harmless: `ADDRCONFIG ALL V4MAPPED promises ${RECORDS} ${RESOLVERS}` },
  'dns/promises': { closed: LOOKUPS, harmless: `${RECORDS} ${RESOLVERS}` },
  http: { closed: 'Agent ClientRequest Server WebSocket createServer get globalAgent request', harmless: 'CloseEvent IncomingMessage METHODS MessageEvent OutgoingMessage STATUS_CODES ServerResponse _connectionListener maxHeaderSize setGlobalProxyFromEnv setMaxIdleHTTPParsers validateHeaderName validateHeaderValue' },
  https: { closed: 'Agent Server createServer get globalAgent request' },
  http2: { closed: 'connect createSecureServer createServer', harmless: 'Http2ServerRequest Http2ServerResponse constants getDefaultSettings getPackedSettings getUnpackedSettings performServerHandshake sensitiveHeaders' },
  child_process: { closed: 'ChildProcess exec execFile execFileSync execSync fork spawn spawnSync', why: { _forkChild: 'opens the channel that a parent gave it' } },
  cluster: { closed: 'fork', harmless: 'SCHED_NONE SCHED_RR Worker _events _eventsCount _maxListeners disconnect isMaster isPrimary isWorker schedulingPolicy settings setupMaster setupPrimary workers' },
  worker_threads: { closed: 'Worker', harmless: 'BroadcastChannel MessageChannel MessagePort SHARE_ENV getEnvironmentData isInternalThread isMainThread isMarkedAsUntransferable locks markAsUncloneable markAsUntransferable moveMessagePortToContext parentPort postMessageToThread receiveMessageOnPort resourceLimits setEnvironmentData threadId threadName workerData' },
  inspector: { closed: 'Session open', harmless: 'DOMStorage Network NetworkResources close console url waitForDebugger' },
  'inspector/promises': { closed: 'Session open', harmless: 'DOMStorage Network NetworkResources close console url waitForDebugger' },
  fs: { closed: `FileWriteStream Utf8Stream WriteStream createWriteStream mkdtempDisposableSync ${both('appendFile chmod chown copyFile cp lchown link lutimes mkdir mkdtemp open rename rm rmdir symlink truncate unlink utimes writeFile')}`, harmless: `Dir Dirent FileReadStream F_OK R_OK ReadStream Stats W_OK X_OK _toUnixTimestamp constants createReadStream openAsBlob promises unwatchFile watch watchFile ${both('access close exists glob lstat opendir read readFile readdir readlink readv realpath stat statfs')}`, why: { ...names('lchmod lchmodSync', 'exist on macOS alone'), ...names(both('fchmod fchown fdatasync fstat fsync ftruncate futimes write writev'), 'takes a descriptor that `open` gave') } },
  'fs/promises': { closed: 'appendFile chmod chown copyFile cp lchown link lutimes mkdir lchmod mkdtemp mkdtempDisposable open rename rm rmdir symlink truncate unlink utimes writeFile', harmless: 'access constants glob lstat opendir readFile readdir readlink realpath stat statfs watch' },
  process: { closed: '_debugProcess _kill dlopen execve kill report', harmless: '_debugEnd _eventsCount _events _exiting _fatalException _getActiveHandles _getActiveRequests _maxListeners _preload_modules _rawDebug _startProfilerIdleNotifier _stopProfilerIdleNotifier _tickCallback allowedNodeEnvironmentFlags arch argv argv0 availableMemory chdir config constrainedMemory cpuUsage cwd debugPort domain emitWarning env execArgv execPath exitCode features finalization getActiveResourcesInfo getBuiltinModule getegid geteuid getgid getgroups getuid hasUncaughtExceptionCaptureCallback hrtime initgroups loadEnvFile memoryUsage moduleLoadList nextTick openStdin pid platform ppid ref release resourceUsage setSourceMapsEnabled setUncaughtExceptionCaptureCallback setegid seteuid setgid setgroups setuid sourceMapsEnabled stderr stdin stdout threadCpuUsage title umask unref uptime version versions', why: { ...names('_linkedBinding binding', 'refused by Node with permissions'), ...names('abort exit reallyExit', 'ends in a verdict') } },
  sqlite: { closed: 'DatabaseSync backup', harmless: 'Session StatementSync constants' },
  vm: { harmless: 'Script compileFunction constants createContext createScript isContext measureMemory runInContext runInNewContext runInThisContext' },
  v8: { closed: 'setHeapSnapshotNearHeapLimit writeHeapSnapshot', harmless: 'DefaultDeserializer DefaultSerializer Deserializer GCProfiler Serializer cachedDataVersionTag deserialize getCppHeapStatistics getHeapCodeStatistics getHeapSnapshot getHeapSpaceStatistics getHeapStatistics isStringOneByteRepresentation promiseHooks queryObjects serialize setFlagsFromString startCpuProfile startupSnapshot', why: names('stopCoverage takeCoverage', 'writes where NODE_V8_COVERAGE of the caller says') },
  module: { closed: 'register', harmless: 'Module SourceMap _cache _debug _extensions _findPath _initPaths _load _nodeModulePaths _pathCache _preloadModules _readPackage _resolveFilename _resolveLookupPaths _stat builtinModules constants createRequire findPackageJSON findSourceMap flushCompileCache getCompileCacheDir getSourceMapsSupport globalPaths isBuiltin registerHooks runMain setSourceMapsSupport stripTypeScriptTypes syncBuiltinESMExports wrap wrapper', why: { enableCompileCache: 'writes where permissions let it' } },
  repl: { harmless: 'REPLServer REPL_MODE_SLOPPY REPL_MODE_STRICT Recoverable _builtinLibs builtinModules isValidSyntax start writer' },
  wasi: { closed: 'WASI' },
  os: { closed: 'setPriority', harmless: 'EOL arch availableParallelism constants cpus devNull endianness freemem getPriority homedir hostname loadavg machine networkInterfaces platform release tmpdir totalmem type uptime userInfo version' },
  trace_events: { closed: 'createTracing', harmless: 'getEnabledCategories' },
  test: { closed: 'run', harmless: 'after afterEach assert before beforeEach describe expectFailure getTestContext it mock only skip snapshot suite test todo' },
};

function names(list: string, why: string): Record<string, string> {
  return Object.fromEntries(list.split(' ').map((name) => [name, why]));
}

// Methods of FileHandle, WriteStream, dgram.Socket, net.Socket and net.Server reach only what an export above has opened.
