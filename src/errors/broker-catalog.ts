/** Codes for problems with brokers and with positions in their logs. */
export const brokerCatalog = {
  SOURCE_REPLACED: {
    title: 'The topic was deleted and created again, or moved, so stored positions mean nothing in it',
    fix: 'To start over, remove the stored positions of this group and topic. Until then the topic is not read.',
  },
  POSITIONS_NEEDED: {
    title: 'A transport should recognise copies by their position, but the store cannot keep positions',
    fix: "Use dedup: 'id', or a store that keeps positions and has parts.",
  },
  SHARD_UNKNOWN: {
    title: 'Nobody knows to which shard a message belongs: shardOf() threw, or named none of the shards',
    fix: 'Repair shardOf() or the message. Then reassign() hands the dead letter to its shard; a redrive runs it only in the shard that shardOf() names.',
  },
  BROKER_UNREACHABLE: {
    title: 'The broker cannot be reached',
    fix: 'Check the address and whether it is running; the cause says what the client saw.',
  },
  BROKER_REFUSED: {
    title:
      'The broker answers, but refuses us: wrong credentials, missing rights, or a virtual host that does not exist',
    fix: 'Check the user, its password and its permissions, and the virtual host if there is one; retrying does not help.',
  },
  CONSUMER_TIMEOUT: {
    title: 'The broker closed the channel because a message was not acknowledged within its consumer timeout',
    fix: 'Make handlers faster, take fewer messages at a time, or raise the consumer_timeout of the broker above the longest time a message may wait and run.',
  },
  PARTITIONS_CHANGED: {
    title: 'The number of partitions of a topic has changed since the group was joined',
    fix: 'Nothing: the group is joined again and reads all of them. Messages of one key may be in two partitions now.',
  },
  TOPIC_REPLACED: {
    title: 'A topic was deleted and created again; it is read from its start',
    fix: 'Nothing: it is read from its start. Unread messages of the old topic are gone.',
  },
  TOPIC_MISSING: {
    title: 'One of the topics does not exist; the others are read',
    fix: 'Create it, or remove it from topics. It is read as soon as it exists.',
  },
  PARTITION_UNREADABLE: {
    title: 'The data of a partition cannot be read, or the broker does not serve it; the others are read',
    fix: 'Check the log of the broker and its disk. If a batch of records is damaged, remove it with kafka-delete-records, or set the group past it.',
  },
  POSITION_FORGOTTEN: {
    title: 'The store has no position of a partition that the group has already read',
    fix: 'Nothing after a restored backup: what was lost is read again. If the message does not say from where, stop the app and set the group to where reading should begin.',
  },
  POSITION_LOST: {
    title: 'The topic no longer holds the position at which reading should continue, so messages may have been missed',
    fix: 'Raise retention.ms of the topic, or consume faster. If a log was cut off, keep unclean.leader.election.enable off. The message says where reading continues.',
  },
  BROKER_GAVE_UP: {
    title: 'The broker has put a message into its own dead-letter queue',
    fix: 'Check the reason in its headers and the delivery limit of the queue, then redrive the dead letter.',
  },
  BROKER_MAY_LOSE: {
    title: 'The broker may lose messages that it has accepted when one of its nodes fails',
    fix: 'RabbitMQ: use durable quorum queues. Kafka: three replicas, min.insync.replicas 2 and unclean.leader.election.enable false for each topic.',
  },
  BROKER_NOT_CHECKED: {
    title: 'The broker does not say whether it may lose messages',
    fix: 'RabbitMQ: give the transport declare, or look at the output of rabbitmqctl list_queues name type durable arguments policy. Kafka: allow DESCRIBE and DESCRIBE_CONFIGS on the topics, or look at kafka-configs --describe --all.',
  },
  BROKER_SETUP: {
    title: 'Something that the transport needs does not exist on the broker, or is set up differently',
    fix: "Create it, let the transport declare it, or change the option; the transport's page says what it needs.",
  },
} as const satisfies Record<string, { title: string; fix: string }>
