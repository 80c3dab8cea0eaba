require 'active_record'
require 'stringio'

ActiveRecord::Base.establish_connection(adapter: 'postgresql')
class Page < ActiveRecord::Base; end

connection = ActiveRecord::Base.connection
connection.execute('ALTER TABLE page RENAME TO pages')
value = ENV['VALUE'].to_i
puts "version #{ActiveRecord::VERSION::STRING}"

if ActiveRecord::VERSION::MAJOR < 7
  # @block 2@

  # It takes the place of the first statement of the other block.
  connection.define_singleton_method(:add_column) { |*| }
end

# @block 1@

near.ids.each { |id| puts "near #{id}" }
nearest.ids.each { |id| puts "nearest #{id}" }
puts "si #{si}"
number = @unsigned@
puts "unsigned #{number}"
puts "signed #{@signed@}"

# ActiveRecord 6 writes a schema.rb that cannot be loaded.
schema = StringIO.new
source = ActiveRecord.version >= Gem::Version.new('7.2') ? ActiveRecord::Base.connection_pool : connection
ActiveRecord::SchemaDumper.dump(source, schema)
expected = ActiveRecord::VERSION::MAJOR >= 7 ? /t\.virtual "si", .*as: "simhash\(body\)", stored: true/ : /"si", default: ->/
raise schema.string unless schema.string.match?(expected) && schema.string.include?('using: :hamming')

created = Page.create!(body: 'one two three')
raise 'ActiveRecord 6 reads fingerprints back' if ActiveRecord::VERSION::MAJOR < 7 && created.si
raise 'no fingerprint' unless created.reload.si
