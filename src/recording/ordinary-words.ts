/**
 * Words that appear as values beside secrets: roles, plans, states, regions, models. A text that consists of them is no
 * secret, so that a re-executed run takes the branch that its plan or role decides.
 */

/** Words in lower case; short ones are parts of joined texts such as `eu-central-1` and `read_write`. */
const WORDS: ReadonlySet<string> = new Set(
  `
  access account accountant accounting active activity address admin administration administrator africa agent ai alert all
  alpha america analysis analyst analytics android annual anonymous answer anthropic any apple application approved archive
  asia assistant atlantic audience audio audit australia author auto automatic backend balance base basic benefit 
  beta billing birthday blocked board body brand broker browser budget bulk business buyer calendar call
  campaign canada cancel cancelled candidate category cell center central chair channel chat chatbot child chrome city class
  claude clerk client close cloud code coder color command comment commerce commercial commission common community company
  complete compliance confirmed connect consultant consumer contact content context contract contractor contributor
  conversation corporate cost count country course cover create creator credit currency current custom customer daily dark
  dashboard data database date day debit debug december deepseek default delete delivery demo department deployment deploy
  deputy design designer desk desktop detail developer development device digital direct director disabled discount display
  district document domain double draft driver east eastern economy edit edition editor education electronic email
  embedding employee empty enabled engineer engineering english enterprise entertainment equal error essential europe
  european event everyone example exchange executive expert expired export express external face family february
  feature federal feedback female field file finance financial firefox first flash flight format forward founder france free
  french friday friend front frontend full function future game gamma gemini general german germany global gold good google
  government gpt grade graduate grand grey group growth guest guide half haiku hardware head header health high history
  holiday home hospital host hotel hour house html http https human image import inactive individual industry info
  information input inside instruct insurance integration intern internal international internet investor invoice item
  january japan javascript job join journal json junior keyword kitchen label language large last latest launch law lead
  leader legal lesson level library license life light limit limited link list lite live llama local location lock login
  long loyalty lunar machine mail main maintainer maintenance major male manage management manager manual march
  market marketing master max maximum medical medicine medium member membership memory merchant message meta method middle
  mini minimal minimum mistral mixed mixtral mobile mode model moderator monday money monitor monitoring monkey month
  monthly mountain music name nano national network neutral never new news newsletter next night normal north northern
  nova note notice nothing november number nurse october offer office officer offline once one online only open openai
  operations operator opinion option opus orange order organic organization original other output outside owner pacific
  package page paid parent partner party passenger password patient payment peer pending pension people percent
  perfect period permanent permission person personal phone photo physician picture pilot plan plane platform
  platinum play player plus point policy portal position post premium president press preview previous primary principal
  print priority private pro problem process product production professional professor profile program programmer project
  promo property provider public publisher purchase purple python quality quarter quarterly question quick quiet qwen read
  reader readonly recipient record red region regional register registered regular release remote report reporter request
  reserve resident resource response restaurant restricted result retail retired retry return review reviewer role room
  safari salary sale sales sandbox saturday scholar school science scientist score search season second secondary
  secretary section security select self seller senior september server service session setting shared shipping
  shop short silver simple single site small smart social software solution sonnet source south southern special specialist
  sport staff staging standard start starter state status stock store strategy street string strong student studio style
  sub subscriber subscription success summary summer sunday super supervisor supplier support suspended system table target
  task tax teacher team tech technical technology template temporary tenant tester text think thinking three thursday
  ticket tier time titan title tokenizer tool top total tour tourist trade trainee trainer training transfer
  transport travel treasury trial trusted tuesday turbo turkey two type ultra underwriter unit university
  unknown unlimited unverified update upgrade upper user utility value vendor verified version vice video view viewer vip
  visitor vision visual volunteer warehouse warning watch weather web website wednesday week weekly weekend welcome west
  western white whole wholesale window windows winter woman word work worker workspace world write writer xml year yearly
  yellow young zip zipcode zone
  ap authority ca codename cron decoder en encoder eu grant keynote max nl openid passwordless run scope signature thread uk us
  ada babbage bge chat codestral curie dall davinci distill exp falcon gemma glm granite hermes jamba kimi magistral
  maverick minilm ministral nemotron phi pixtral realtime reasoning rerank reranker scout sonar transcribe tts versatile
  whisper yi
  `
    .trim()
    .split(/\s+/),
);

/** Endings of words that are in no short list: `accreditation`, `procurement`. */
const LONG_WORD =
  /^[a-z]*[aeiouy][a-z]*(?:tion|sion|ment|ness|ship|able|ible|ance|ence|ology|ically|ional|ering|ating)$/;
const MIN_LONG_WORD = 8;

const TIME_ZONE =
  /^(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Etc|Europe|Indian|Pacific)\/[\w/+-]+$/;
const DATE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;
/** A word with digits behind it: `Welcome2026`. */
const PASSWORD = /^[A-Za-z]+\d+$|[A-Za-z]{3}\d{2}/;
/** Dates of releases: `claude-sonnet-4-20250514`. */
const DATES = /(?<!\d)20\d\d-?[01]\d-?[0-3]\d(?!\d)/g;
/** Counts, versions and codes: `128k`, `v2`, `fr`. */
const SHORT = /^(?:[a-z]{1,2}|\d{1,2}|(?:19|20)\d\d|2048|4096|8192|16384|32768|65536|\d{1,4}[bkm])$/;

const isWord = (word: string): boolean =>
  WORDS.has(word) ||
  (word.endsWith('s') && WORDS.has(word.slice(0, -1))) ||
  (word.length >= MIN_LONG_WORD && LONG_WORD.test(word));

/** True for words of the list, also joined, and for dates and time zones. */
export function isOrdinary(text: string): boolean {
  if (DATE.test(text) || TIME_ZONE.test(text)) return true;
  if (/[^\x20-\x7e]/.test(text) || PASSWORD.test(text)) return false;
  const parts = text
    .replace(DATES, '')
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .match(/[a-z]+|\d+(?:[bkm](?![a-z]))?/g);
  if (parts === null) return false;
  let known = 0;
  let unknown = 0;
  for (const part of parts) {
    if (isWord(part)) known += part.length;
    else if (SHORT.test(part)) unknown += part.length;
    else return false;
  }
  return known >= unknown;
}
