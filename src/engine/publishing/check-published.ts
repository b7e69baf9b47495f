import type { Message, OutgoingMessage } from '../../contracts/index.ts'
import { isJustonceError, JustonceError } from '../../errors/index.ts'
import type { Engine } from '../engine.ts'
import { type DecodingSite, decodeMessage, fitType } from '../intake/decode-message.ts'
import { describeIssues, type StandardIssue, type StandardSchema } from '../intake/standard-schema.ts'

/**
 * Rejects if the body does not fit the schema of its type. The body is checked as a receiver will read it, after JSON,
 * so that a Date fits a schema that parses a text into a Date. `undefined` if there is no schema.
 */
export function checkPublished(
  site: Pick<Engine<never>, 'clock' | 'schemaOf' | 'codecOf'>,
  message: OutgoingMessage,
): Promise<void> | undefined {
  const schema = site.schemaOf(message.type)
  if (schema === undefined) return undefined
  return fitAsReceived(site, schema, message).then(
    () => {},
    (error: unknown) => {
      throw isJustonceError(error, 'BODY_INVALID') ? invalid(message, error) : error
    },
  )
}

async function fitAsReceived(site: DecodingSite, schema: StandardSchema, message: OutgoingMessage): Promise<Message> {
  return await fitType(site.clock, schema, await decodeMessage(site, { ...message, source: 'publish' }))
}

/** Not BODY_INVALID: a handler's dead letter would then say that the message it was given is wrong. */
function invalid({ id, type }: OutgoingMessage, { details }: JustonceError): JustonceError {
  const issues = describeIssues(details.issues as readonly StandardIssue[])
  return new JustonceError('PUBLISH_INVALID', {
    message: `Message ${id} does not match the schema of type ${type}, and is not published: ${issues}.`,
    details,
  })
}
